import { isRecord, type JsonRecord, parseRecord } from '../../lib/json/lenient.ts'

/** The arguments of a tool call that goes back to its vendor, who wants an object: none or blank ones are an empty one, and
 *  some clients send the object itself. undefined for anything else. */
export function callArguments(written: unknown): JsonRecord | undefined {
  if (written === undefined || written === null) return {}
  if (isRecord(written)) return written
  if (typeof written !== 'string') return undefined
  return written.trim() === '' ? {} : parseRecord(written)
}
