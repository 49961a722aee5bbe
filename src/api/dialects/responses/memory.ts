import { GatewayError } from '../../../lib/errors.ts'
import { wordsIn } from '../../../lib/json/lazy-json.ts'
import { asList, asRecord, asText, isRecord, type JsonRecord, parseRecord } from '../../../lib/json/lenient.ts'
import type { ModelRequest } from '../../../modes/mode.ts'
import type { KeptConversation } from '../../../pipeline/memory/conversation.ts'
import { compactionMessage } from './compaction.ts'
import { itemIds, newResponseId, prefixOf, responseIdOf } from './item-ids.ts'
import { openThinking } from './thinking.ts'

const decoder = new TextDecoder()

/** Conversations of Responses: `previous_response_id` continues one, and an item reference stands for one of its items. */
export const responsesMemory: KeptConversation = {
  newId: newResponseId,
  answerIdOf: responseIdOf,

  inputOf(request, answerId, { parts }) {
    const newId = itemIds(answerId)
    // That it was to be compacted is no part of a conversation.
    const said = ownItems(request).filter(({ type }) => type !== 'compaction_trigger')
    return said.map((item) => {
      const part = parts.get(asText(item.id))
      if (part) return part
      const type = asText(item.type) || 'message'
      const id = asText(item.id) || newId(prefixOf(type))
      if (type === 'message') return storedMessage(item, id)
      return { ...(OF_CALLS.test(type) ? ENDED_WELL : {}), ...item, id, type }
    })
  },

  outputOf: ({ output }) => asList(output).map(asRecord),

  joined(request, { history, parts }) {
    const own = ownItems(request).map((item) => {
      const part = parts.get(asText(item.id))
      return part ? asSent(part) : item
    })
    const before = history.map(asSent)
    refuseUnasked(own, before)
    return { previous_response_id: undefined, input: [...before, ...own] }
  },

  holdsOwn: (request) => (wordsIn(request, 'input', OWN)?.size ?? OWN.size) > 0,

  portable({ input }) {
    const items = asList(input).map(asRecord)
    if (!items.some((item) => isThoughtHere(item) || compactionMessage(item))) return undefined
    return { input: items.filter((item) => !isThoughtHere(item)).map((item) => compactionMessage(item) ?? item) }
  },

  answerIn(bytes) {
    const text = decoder.decode(bytes)
    const at = text.lastIndexOf('data: ')
    const read = text.startsWith('{') ? parseRecord(text) : asRecord(parseRecord(text.slice(at + 6))?.response)
    return read && ENDED.has(read.status) ? read : undefined
  },
}

/** Words that stand in what only a translation writes. */
const OWN: ReadonlySet<string> = new Set(['compaction', 'reasoning'])

const ENDED: ReadonlySet<unknown> = new Set(['completed', 'incomplete'])

/** The request's own items. */
function ownItems({ input }: ModelRequest): readonly JsonRecord[] {
  return typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : asList(input).map(asRecord)
}

/** Calls of tools and their results, which have a status, as messages have. */
const OF_CALLS = /_call(_output)?$/
const ENDED_WELL = { status: 'completed' }

/** A message as lists of items show it: with parts. */
function storedMessage(item: JsonRecord, id: string): JsonRecord {
  const { content } = item
  const part =
    item.role === 'assistant'
      ? { type: 'output_text', text: content, annotations: [], logprobs: [] }
      : { type: 'input_text', text: content }
  return { ...ENDED_WELL, ...item, id, type: 'message', content: typeof content === 'string' ? [part] : content }
}

/** A kept item as providers get it. Ids mean something only to those who gave them. */
function asSent({ status: _status, ...item }: JsonRecord): JsonRecord {
  if (!WITHOUT_ID.has(item.type)) return item
  const { id: _id, ...rest } = item
  return rest
}

const WITHOUT_ID: ReadonlySet<unknown> = new Set([
  ...['message', 'function_call', 'function_call_output', 'custom_tool_call', 'custom_tool_call_output'],
])

/** Reasoning that was written down for clients of a translated model: no provider of Responses can read it. A provider's
 *  own may be known to it by its id alone. */
function isThoughtHere({ type, id, encrypted_content }: JsonRecord): boolean {
  if (type !== 'reasoning') return false
  if (typeof encrypted_content === 'string') return openThinking(encrypted_content) !== undefined
  return typeof id === 'string' && responseIdOf(id) !== undefined
}

/** Refuses results of calls that the conversation does not have. */
function refuseUnasked(own: readonly JsonRecord[], before: readonly JsonRecord[]): void {
  const asked = new Set([...before, ...own].filter(isCall).map(({ call_id, id }) => call_id ?? id))
  const index = own.findIndex((item) => isRecord(item) && OUTPUTS.has(item.type) && !asked.has(item.call_id ?? item.id))
  const unasked = own[index]
  if (!unasked) return
  const id = asText(unasked.call_id ?? unasked.id).slice(0, 100)
  throw new GatewayError('invalid_request', `No tool call found for function call output with call_id ${id}.`, {
    param: `input.${index}.call_id`,
  })
}

const OUTPUTS: ReadonlySet<unknown> = new Set([
  ...['function_call_output', 'custom_tool_call_output', 'local_shell_call_output'],
])
const isCall = ({ type }: JsonRecord) => typeof type === 'string' && type.endsWith('_call')
