import { joinBytes } from '../../lib/bytes/bytes.ts'
import { editJson } from '../../lib/json/edit-json.ts'
import { boundJson, REQUEST_BOUNDS } from '../../lib/json/json-bounds.ts'
import { parseLazily } from '../../lib/json/lazy-json.ts'
import { isRecord, type JsonRecord } from '../../lib/json/lenient.ts'

/** The fields that are to be changed in a body, undefined where they are to be removed. Throws for a body that its address
 *  cannot complete. */
export type BodyEdit = (body: JsonRecord) => JsonRecord

/** A JSON body as its address completes it. A body that cannot be read stays as it is, and is refused with the call. */
export function editedBody(bytes: Uint8Array, edit: BodyEdit): Uint8Array {
  const body = objectIn(bytes)
  if (!body) return bytes
  const changes = Object.entries(edit(body)).filter(([field, value]) => body[field] !== value)
  return changes.length === 0 ? bytes : joinBytes(editJson(bytes, body, Object.fromEntries(changes)))
}

function objectIn(bytes: Uint8Array): JsonRecord | undefined {
  try {
    boundJson(bytes, REQUEST_BOUNDS)
    const body = parseLazily(bytes)
    return isRecord(body) ? body : undefined
  } catch {
    return undefined
  }
}
