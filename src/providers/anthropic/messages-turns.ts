import { asList, asRecord, entryOf, type JsonRecord } from '../../lib/json/lenient.ts'
import { toldArguments } from '../wire/call-arguments.ts'
import { isOwnThought, ownThinking } from '../wire/fitting/own-thinking.ts'
import { unsupported } from '../wire/unsupported-fields.ts'
import { cachedBlock, contentBlocks } from './content-blocks.ts'

const API = 'the Messages API'

interface Turn {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: JsonRecord[]
}

interface Conversation {
  readonly system: readonly JsonRecord[]
  readonly messages: readonly Turn[]
}

/** A chat as turns: system messages move to the front, or those among the turns stay there, tool results belong to the
 *  user, and consecutive messages of one side become one turn. */
export function messagesTurns(messages: readonly JsonRecord[], instructsLater = false): Conversation {
  const system: JsonRecord[] = []
  const turns: Turn[] = []
  for (const [index, message] of messages.entries()) {
    const at = `messages.${index}`
    const blocks = withCacheMark(blocksOf(message, at), message.cache_control)
    const role = entryOf(ROLES, message.role)
    if (role === undefined) throw unsupported(`${at}.role`, API)
    if (role === 'system' && !(instructsLater && turns.length > 0)) {
      system.push(...blocks)
      continue
    }
    // The API refuses empty turns.
    if (blocks.length === 0) continue
    const last = turns.at(-1)
    if (last?.role === role) last.content.push(...blocks)
    else turns.push({ role, content: blocks })
  }
  return { system, messages: turns }
}

const ROLES: Readonly<Record<string, 'system' | 'user' | 'assistant'>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  tool: 'user',
  assistant: 'assistant',
}

function blocksOf(message: JsonRecord, at: string): JsonRecord[] {
  if (message.role === 'tool') return [toolResult(message, at)]
  if (message.role !== 'assistant') return contentBlocks(message.content, `${at}.content`)
  if (message.function_call) throw unsupported(`${at}.function_call`, API, 'Use tool_calls.')
  if (message.audio) throw unsupported(`${at}.audio`, API)
  return [
    // The API refuses unsigned reasoning, so `reasoning_content` is dropped, and so are parts that a client made of it.
    ...ownThinking(message),
    ...contentBlocks(message.content, `${at}.content`).filter(isOwnThought),
    ...contentBlocks(message.refusal, `${at}.refusal`),
    ...asList(message.tool_calls).map((call, index) => toolUse(asRecord(call), `${at}.tool_calls.${index}`)),
  ]
}

function toolUse(call: JsonRecord, at: string): JsonRecord {
  if (call.type !== undefined && call.type !== 'function') throw unsupported(`${at}.type`, API)
  const { name, arguments: written } = asRecord(call.function)
  return cachedBlock({ type: 'tool_use', id: call.id, name, input: toldArguments(written) }, call.cache_control)
}

function toolResult(message: JsonRecord, at: string): JsonRecord {
  const { tool_call_id, content, is_error } = message
  const blocks = contentBlocks(content, `${at}.content`)
  return {
    type: 'tool_result',
    tool_use_id: tool_call_id,
    ...(typeof content === 'string' ? { content } : blocks.length > 0 ? { content: blocks } : {}),
    ...(is_error === true ? { is_error } : {}),
  }
}

function withCacheMark(blocks: JsonRecord[], control: unknown): JsonRecord[] {
  const last = blocks.at(-1)
  return last ? [...blocks.slice(0, -1), cachedBlock(last, control)] : blocks
}
