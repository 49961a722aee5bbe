import { matchesBehind } from '../../lib/json/lazy-json.ts'
import { asRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import { fittingId } from '../wire/fitting/fitting-id.ts'
import { MESSAGES_TAKE } from './messages-request.ts'

/** The members with the id of a call, by the types of their blocks. */
const IDS = new Map<unknown, string>([
  ['tool_use', 'id'],
  ['tool_result', 'tool_use_id'],
])

/** What follows the name of an id with a sign that Claude refuses. */
const STRANGE = /^\s*:\s*"[^"]*[^\w"-]/

/** Whether a request that is relayed may have an id of a call that Claude refuses, found without building its messages. */
export const mayHaveStrangeIds = (body: ModelRequest): boolean =>
  [...IDS.values()].some((name) => matchesBehind(body, 'messages', name, STRANGE) !== false)

/** A turn whose calls, which models of other vendors may have made, have ids that Claude takes; the same where they all
 *  have. */
export function withOwnIds(message: JsonRecord): JsonRecord {
  const { content } = message
  if (!Array.isArray(content)) return message
  const own = content.map(withOwnId)
  return own.some((block, index) => block !== content[index]) ? { ...message, content: own } : message
}

function withOwnId(value: unknown): unknown {
  const block = asRecord(value)
  const name = IDS.get(block.type)
  if (name === undefined) return value
  const id = fittingId(block[name], MESSAGES_TAKE.calls)
  return id === block[name] ? value : { ...block, [name]: id }
}
