import { asRecord, asText, entryOf, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { Drop } from '../../../modes/field-table.ts'
import type { MessagesRequest } from '../../../modes/messages.ts'
import { inexpressible } from '../inexpressible.ts'
import { isToolChange } from './amid.ts'
import { asContent, blocksOf, chatPart, chatParts } from './content.ts'
import { BLOCK_FIELDS } from './fields.ts'
import { UNSIGNED } from './wire.ts'

type Message = { readonly role: string; readonly [field: string]: unknown }

/** The turns as chat messages. Each tool result becomes a message of its own. */
export function chatMessages({ system, messages }: MessagesRequest, drop: Drop): Message[] {
  const told = blocksOf(system).filter((block) => !isBillingMark(block))
  if (told.length < blocksOf(system).length) drop('system.x-anthropic-billing-header')
  const instructions = chatParts(told, 'system')
  // A compaction stands for everything before it.
  const compacted = messages.findLastIndex(({ role, content }) => role === 'assistant' && compactionIn(content) !== -1)
  const newest = messages.findLastIndex(({ role }) => role === 'user')
  return [
    ...(instructions.length > 0 ? [{ role: 'system', content: asContent(instructions) }] : []),
    ...messages.flatMap(({ role, content, clear_at }, index) =>
      index < compacted || (clear_at === 'next_user_message' && index < newest)
        ? []
        : TURNS[role](content, `messages.${index}.content`, drop),
    ),
  ]
}

/** The place of the last compaction in a turn, or -1. One that failed is empty. */
const compactionIn = (content: unknown) =>
  blocksOf(content).findLastIndex((block) => block.type === 'compaction' && asText(block.content) !== '')

/** The vendor's own clients put a mark for its billing among the instructions. It changes from call to call, so that no
 *  other provider could cache what follows. */
const isBillingMark = ({ text }: JsonRecord) => asText(text).startsWith('x-anthropic-billing-header:')

const TURNS = {
  system(content: unknown, at: string): Message[] {
    const parts = blocksOf(content).flatMap((block, index) =>
      isToolChange(block) ? [] : [chatPart(block, `${at}.${index}`)],
    )
    return parts.length === 0 ? [] : [{ role: 'system', content: asContent(parts) }]
  },
  user: userTurn,
  assistant(content: unknown, at: string, drop: Drop): Message[] {
    const blocks = blocksOf(content)
    const place = compactionIn(content)
    const turn = assistantTurn(blocks, at, { from: place + 1, drop })
    const compaction = blocks[place]
    if (!compaction) return [turn]
    const summary = { role: 'user', content: `A summary of the conversation so far:\n\n${asText(compaction.content)}` }
    return place + 1 < blocks.length ? [summary, turn] : [summary]
  },
} as const

/** Chat has results right behind their calls, whatever is said among them. */
function userTurn(content: unknown, at: string): Message[] {
  const results: Message[] = []
  const parts: JsonRecord[] = []
  for (const [index, block] of blocksOf(content).entries()) {
    if (block.type === 'tool_result') results.push(toolMessage(block, `${at}.${index}.content`))
    else parts.push(chatPart(block, `${at}.${index}`))
  }
  return results.length > 0 && parts.length === 0 ? results : [...results, { role: 'user', content: asContent(parts) }]
}

/** Chat has no mark for a result that is an error: its text says so. */
function toolMessage({ tool_use_id, content, is_error, cache_control }: JsonRecord, at: string): Message {
  const parts = chatParts(content, at)
  const marked = is_error === true ? [{ type: 'text', text: 'Error: ' }, ...parts] : parts
  const plain = marked.every(({ type, cache_control: mark }) => type === 'text' && !mark)
  return {
    role: 'tool',
    tool_call_id: tool_use_id,
    content: plain ? marked.map(({ text }) => text).join('') : marked,
    ...(cache_control ? { cache_control } : {}),
  }
}

function assistantTurn(
  blocks: readonly JsonRecord[],
  at: string,
  { from, drop }: { readonly from: number; readonly drop: Drop },
): Message {
  const parts: JsonRecord[] = []
  const calls: JsonRecord[] = []
  const thinking: JsonRecord[] = []
  for (const [index, block] of blocks.entries()) {
    if (index < from || block.type === 'compaction') continue
    const place = `${at}.${index}`
    if (block.type === 'tool_use') calls.push(toolCall(block, place))
    else if (block.type === 'thinking' || block.type === 'redacted_thinking') thinking.push(block)
    else if (block.type === 'text') parts.push(chatPart(block, place))
    else if (entryOf(BLOCK_FIELDS, block.type)) drop(`messages.content.${block.type}`)
    else
      throw inexpressible(
        `${place}.type`,
        `'${place}': this deployment cannot take back a block of type '${block.type}'.`,
      )
  }
  const isSigned = ({ type, signature }: JsonRecord) =>
    type === 'redacted_thinking' || !['', UNSIGNED].includes(asText(signature))
  const signed = thinking.filter(isSigned)
  // Unsigned reasoning goes back unchanged: some providers refuse a turn with calls that lacks it.
  const unsigned = thinking.map((block) => (isSigned(block) ? '' : asText(block.thinking))).join('')
  return {
    role: 'assistant',
    content: parts.length === 0 && calls.length > 0 ? null : asContent(parts),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(unsigned === '' ? {} : { reasoning_content: unsigned }),
    ...(signed.length > 0 ? { thinking_blocks: signed } : {}),
  }
}

function toolCall({ id, name, input, cache_control }: JsonRecord, at: string): JsonRecord {
  if (input !== undefined && input !== null && !isRecord(input)) {
    throw inexpressible(`${at}.input`, `'${at}.input' must be an object.`)
  }
  return {
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(asRecord(input)) },
    ...(cache_control ? { cache_control } : {}),
  }
}
