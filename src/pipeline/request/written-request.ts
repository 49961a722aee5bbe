import { joinBytes } from '../../lib/bytes/bytes.ts'
import { editJson } from '../../lib/json/edit-json.ts'
import type { ModelRequest } from '../../modes/mode.ts'

/** A request and the bytes that it was read from. */
export interface Written {
  readonly request: ModelRequest
  readonly bytes: Uint8Array
}

/** The request with other members; `undefined` removes one. */
export function edited({ request, bytes }: Written, changes: Readonly<Record<string, unknown>>): Written {
  const members = Object.entries({ ...request, ...changes }).filter(([, value]) => value !== undefined)
  return {
    request: { ...Object.fromEntries(members), model: request.model },
    bytes: joinBytes(editJson(bytes, request, changes)),
  }
}
