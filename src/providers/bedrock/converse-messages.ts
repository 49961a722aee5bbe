import { asList, asRecord, asText, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import { toldArguments } from '../wire/call-arguments.ts'
import { ownThinking } from '../wire/fitting/own-thinking.ts'
import { unsupported } from '../wire/unsupported-fields.ts'
import { CONVERSE } from './converse-name.ts'
import { mediaBlock } from './media-block.ts'

type Block = JsonRecord
export interface Turn {
  readonly role: 'user' | 'assistant'
  readonly content: Block[]
}

interface Conversation {
  readonly messages: readonly Turn[]
  readonly system: Block[]
}

/** Translates a conversation to Converse: user and assistant turns alternate, tool results belong to the user, and system
 *  messages move to the front. */
export function converseMessages(list: ChatRequest['messages']): Conversation {
  const system: Block[] = []
  const messages: Turn[] = []
  const add = (role: Turn['role'], blocks: readonly Block[]) => {
    // The API refuses empty turns.
    if (blocks.length === 0) return
    const last = messages.at(-1)
    if (last?.role === role) last.content.push(...blocks)
    else messages.push({ role, content: [...blocks] })
  }
  for (const [index, message] of list.entries()) {
    const at = `messages.${index}`
    if (message.role === 'system' || message.role === 'developer') system.push(...contentBlocks(message.content, at))
    else if (message.role === 'user') add('user', besideWords(contentBlocks(message.content, at)))
    else if (message.role === 'assistant') add('assistant', assistantBlocks(message, at))
    else if (message.role === 'tool') add('user', toolResult(message, at))
    else throw unsupported(`${at}.role`, CONVERSE)
  }
  // Converse wants the user to begin. Chats that greet their user begin with the model.
  if (messages[0]?.role === 'assistant') messages.unshift({ role: 'user', content: [{ text: 'Begin.' }] })
  const counts = new Map<string, number>()
  for (const { content } of messages) renameDuplicates(content, counts)
  return { messages, system }
}

/** Gives the documents of a request distinct names, as the API requires. `counts` has the uses of each name. */
function renameDuplicates(blocks: Block[], counts: Map<string, number>): void {
  for (const [index, { document, toolResult }] of blocks.entries()) {
    if (isRecord(toolResult)) renameDuplicates(toolResult.content as Block[], counts)
    if (!isRecord(document)) continue
    const asked = asText(document.name)
    let count = counts.get(asked) ?? 0
    let name = asked
    while (counts.has(name)) name = `${asked} ${++count + 1}`
    counts.set(asked, count)
    counts.set(name, counts.get(name) ?? 0)
    blocks[index] = { document: { ...document, name } }
  }
}

export function hasToolTurns(messages: readonly Turn[]): boolean {
  return messages.some(({ content }) => content.some((block) => 'toolUse' in block || 'toolResult' in block))
}

/** The cache point after a part with a cache mark: the provider caches everything before it. */
export function cachePoint(part: JsonRecord): Block[] {
  if (!isRecord(part.cache_control)) return []
  const { ttl } = part.cache_control
  return [{ cachePoint: { type: 'default', ...(typeof ttl === 'string' ? { ttl } : {}) } }]
}

function contentBlocks(content: unknown, at: string): Block[] {
  if (typeof content === 'string') return textBlock(content)
  return asList(content).flatMap((part, index) => {
    const record = asRecord(part)
    const block =
      record.type === 'text' ? textBlock(record.text) : [mediaBlock(record, `${at}.content.${index}`, index)]
    return [...block, ...cachePoint(record)]
  })
}

/** Converse refuses documents without words beside them. */
function besideWords(blocks: Block[]): Block[] {
  const isBare = blocks.some((block) => 'document' in block) && !blocks.some((block) => 'text' in block)
  return isBare ? [...blocks, { text: 'Read it.' }] : blocks
}

/** Converse refuses blank text, so it is left out. */
function textBlock(text: unknown): Block[] {
  return typeof text === 'string' && text.trim() !== '' ? [{ text }] : []
}

function assistantBlocks(message: JsonRecord, at: string): Block[] {
  const content = Array.isArray(message.content)
    ? message.content.map((part) => (asRecord(part).type === 'refusal' ? { type: 'text', text: part.refusal } : part))
    : message.content
  return [
    ...ownThinking(message).map((block, index) => reasoningBlock(block, `${at}.thinking_blocks.${index}`)),
    ...contentBlocks(content, at),
    ...textBlock(message.refusal),
    ...asList(message.tool_calls).flatMap((call) => toolUse(asRecord(call))),
    ...cachePoint(message),
  ]
}

function reasoningBlock(block: JsonRecord, at: string): Block {
  if (block.type === 'redacted_thinking') return { reasoningContent: { redactedContent: block.data } }
  if (block.type !== 'thinking') throw unsupported(`${at}.type`, CONVERSE)
  return { reasoningContent: { reasoningText: { text: asText(block.thinking), signature: block.signature } } }
}

function toolUse(call: JsonRecord): Block[] {
  const { name, arguments: written } = asRecord(call.function)
  return [{ toolUse: { toolUseId: call.id, name, input: toldArguments(written) } }, ...cachePoint(call)]
}

function toolResult(message: JsonRecord, at: string): Block[] {
  const blocks = contentBlocks(message.content, at)
  const content = blocks.filter((block) => !('cachePoint' in block))
  const points = [...blocks.filter((block) => 'cachePoint' in block), ...cachePoint(message)]
  const status = message.is_error === true ? { status: 'error' } : {}
  return [{ toolResult: { toolUseId: message.tool_call_id, content, ...status } }, ...points]
}
