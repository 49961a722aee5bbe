import type { GatewayError } from '../../lib/errors.ts'
import { openaiFailure } from '../openai/failure.ts'

/** Statuses that Cohere made up: a token that is blocked or invalid, a call that it gave up. */
const MEANT: Readonly<Record<number, number>> = { 498: 401, 499: 503 }

/** Names what an answer outside 2xx means. */
export function cohereFailure(
  status: number,
  headers: Readonly<Record<string, string>>,
  bytes: Uint8Array,
  now: number,
): GatewayError {
  return openaiFailure(MEANT[status] ?? status, headers, bytes, now)
}
