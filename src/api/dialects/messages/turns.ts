import { asRecord, asText, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { MessagesRequest } from '../../../modes/messages.ts'
import { inexpressible } from '../inexpressible.ts'
import { asContent, blocksOf, chatPart, chatParts } from './content.ts'

type Message = { readonly role: string; readonly [field: string]: unknown }

/** The turns as chat messages. Each result of a tool is a message of its own there. */
export function chatMessages({ system, messages }: MessagesRequest): Message[] {
  const told = chatParts(system, 'system')
  return [
    ...(told.length > 0 ? [{ role: 'system', content: asContent(told) }] : []),
    ...messages.flatMap(({ role, content }, index) => TURNS[role](content, `messages.${index}.content`)),
  ]
}

const TURNS = {
  system: (content: unknown, at: string): Message[] => [{ role: 'system', content: asContent(chatParts(content, at)) }],
  user: userTurn,
  assistant: (content: unknown, at: string): Message[] => [assistantTurn(blocksOf(content), at)],
} as const

function userTurn(content: unknown, at: string): Message[] {
  const messages: Message[] = []
  let said: JsonRecord[] = []
  const settle = () => {
    if (said.length > 0) messages.push({ role: 'user', content: asContent(said) })
    said = []
  }
  for (const [index, block] of blocksOf(content).entries()) {
    if (block.type !== 'tool_result') {
      said.push(chatPart(block, `${at}.${index}`))
      continue
    }
    settle()
    messages.push(toolMessage(block, `${at}.${index}.content`))
  }
  settle()
  return messages.length > 0 ? messages : [{ role: 'user', content: '' }]
}

/** Chat has no mark for a result that is an error: there it says so in words. */
function toolMessage({ tool_use_id, content, is_error, cache_control }: JsonRecord, at: string): Message {
  const parts = chatParts(content, at)
  const told = is_error === true ? [{ type: 'text', text: 'Error: ' }, ...parts] : parts
  const plain = told.every(({ type, cache_control: mark }) => type === 'text' && !mark)
  return {
    role: 'tool',
    tool_call_id: tool_use_id,
    content: plain ? told.map(({ text }) => text).join('') : told,
    ...(cache_control ? { cache_control } : {}),
  }
}

function assistantTurn(blocks: readonly JsonRecord[], at: string): Message {
  const said: JsonRecord[] = []
  const calls: JsonRecord[] = []
  const thoughts: JsonRecord[] = []
  for (const [index, block] of blocks.entries()) {
    const place = `${at}.${index}`
    if (block.type === 'tool_use') calls.push(toolCall(block, place))
    else if (block.type === 'thinking' || block.type === 'redacted_thinking') thoughts.push(block)
    else if (block.type === 'text') said.push(chatPart(block, place))
    else
      throw inexpressible(
        `${place}.type`,
        `'${place}': this deployment cannot take back a block of type '${block.type}'.`,
      )
  }
  const isSigned = ({ type, signature }: JsonRecord) => type === 'redacted_thinking' || asText(signature) !== ''
  const signed = thoughts.filter(isSigned)
  // Those of a provider that signs nothing go back as it told them: some refuse a turn with calls that lacks them.
  const unsigned = thoughts.map((thought) => (isSigned(thought) ? '' : asText(thought.thinking))).join('')
  return {
    role: 'assistant',
    content: said.length === 0 && calls.length > 0 ? null : asContent(said),
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
