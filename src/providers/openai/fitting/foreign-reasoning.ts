import type { GatewayError } from '../../../lib/errors.ts'
import { editJson } from '../../../lib/json/edit-json.ts'
import { asRecord, parseRecord } from '../../../lib/json/lenient.ts'
import { wholeBody } from '../../../transport/whole-body.ts'
import type { Otherwise } from '../../provider.ts'

/** The code for reasoning that was encrypted for another account. */
const UNREADABLE = 'invalid_encrypted_content'

const encoder = new TextEncoder()

/** Leaves the reasoning of earlier turns out of a request of Responses that was refused because of it. */
export function withoutReasoning({ failure, details }: GatewayError): Otherwise | undefined {
  if (failure !== 'upstream_rejected' || details.code !== UNREADABLE) return undefined
  return (request) => {
    const whole = wholeBody(request.body)
    const bytes = typeof whole === 'string' ? encoder.encode(whole) : whole
    const body = parseRecord(bytes)
    if (!Array.isArray(body?.input)) return request
    const input = body.input.filter((item) => asRecord(item).type !== 'reasoning')
    return { ...request, body: editJson(bytes, body, { input }) }
  }
}
