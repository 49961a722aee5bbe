import type { GatewayError } from '../../../lib/errors.ts'
import { asRecord } from '../../../lib/json/lenient.ts'
import type { Rewrite } from '../../provider.ts'
import { editing } from '../../wire/fitting/edited-request.ts'

/** The code for reasoning that was encrypted for another account. */
const UNREADABLE = 'invalid_encrypted_content'

/** Leaves the reasoning of earlier turns out of a request of Responses that was refused because of it. */
export function withoutReasoning({ failure, details }: GatewayError): Rewrite | undefined {
  if (failure !== 'upstream_rejected' || details.code !== UNREADABLE) return undefined
  return editing(({ input }) =>
    Array.isArray(input) ? { input: input.filter((item) => asRecord(item).type !== 'reasoning') } : {},
  )
}
