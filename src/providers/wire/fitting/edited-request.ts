import { editJson } from '../../../lib/json/edit-json.ts'
import { exactRecord } from '../../../lib/json/exact-json.ts'
import type { JsonRecord } from '../../../lib/json/lenient.ts'
import { wholeBody } from '../../../transport/whole-body.ts'
import type { Rewrite } from '../../provider.ts'

const encoder = new TextEncoder()

/** Changes members of the JSON object that a request sends. */
export function editing(changesOf: (body: JsonRecord) => JsonRecord): Rewrite {
  return (request) => {
    const whole = wholeBody(request.body)
    const bytes = typeof whole === 'string' ? encoder.encode(whole) : whole
    const body = exactRecord(bytes)
    return body ? { ...request, body: editJson(bytes, body, changesOf(body)) } : request
  }
}
