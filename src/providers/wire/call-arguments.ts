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
