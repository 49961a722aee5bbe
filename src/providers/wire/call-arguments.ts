import { exactRecord } from '../../lib/json/exact-json.ts'
import { isRecord, type JsonRecord } from '../../lib/json/lenient.ts'

/** The arguments of a tool call as an object, for vendors that require one. Absent or blank arguments are an empty object,
 *  and some clients send the object itself. undefined for anything else. */
export function callArguments(written: unknown): JsonRecord | undefined {
  if (written === undefined || written === null) return {}
  if (isRecord(written)) return written
  if (typeof written !== 'string') return undefined
  return written.trim() === '' ? {} : exactRecord(written)
}

/** Whether arguments are what OpenAI's models write. */
export const isObjectText = (written: unknown): boolean =>
  typeof written === 'string' && written.trim() !== '' && exactRecord(written) !== undefined

/** The arguments of an earlier call for vendors that require an object. A model that was cut, or that wrote no JSON, has
 *  been told so by the result of its call: it sees what it wrote, and the conversation goes on. */
export function toldArguments(written: unknown): JsonRecord {
  return callArguments(written) ?? { unparsed: written }
}
