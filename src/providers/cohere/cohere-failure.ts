import type { GatewayError } from '../../lib/errors.ts'
import { openaiFailure } from '../openai/failure.ts'

/** Standard statuses for Cohere's own: 498 is a blocked or invalid token, 499 a call that it gave up. */
const MEANT: Readonly<Record<number, number>> = { 498: 401, 499: 503 }

/** Names the failure that an answer outside 2xx reports. */
export function cohereFailure(
  status: number,
  headers: Readonly<Record<string, string>>,
  bytes: Uint8Array,
  now: number,
): GatewayError {
  return openaiFailure(MEANT[status] ?? status, headers, bytes, now)
}
