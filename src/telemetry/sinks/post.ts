import type { Abort } from '../../lib/abort.ts'
import { retryAfterSeconds } from '../../lib/retry-after.ts'
import type { Secret } from '../../lib/secret.ts'
import { type RequestBody, type Transport, TransportError } from '../../transport/transport.ts'
import { SinkFailure } from './sink.ts'

/** The longest answer that is read. */
const ANSWER_BYTES = 256 * 1024

/** A request to a sink's far end. */
export interface SinkRequest {
  readonly method?: 'POST' | 'PUT'
  readonly url: string
  readonly headers: Readonly<Record<string, string | Secret>>
  readonly body: RequestBody
}

export interface SinkAnswer {
  readonly status: number
  readonly body: Uint8Array
}

/** Sends a request. Resolves with an answer of success; throws a SinkFailure for any other. */
export async function post(
  transport: Transport,
  { method = 'POST', url, headers, body }: SinkRequest,
  abort: Abort,
): Promise<SinkAnswer> {
  const { origin, pathname, search } = new URL(url)
  let answered: Awaited<ReturnType<Transport['send']>>
  let bytes: Uint8Array
  try {
    answered = await transport.send({ method, origin, path: pathname + search, headers, body }, abort)
    bytes = await answered.body.bytes(ANSWER_BYTES)
  } catch (error) {
    if (error instanceof SinkFailure) throw error
    throw new SinkFailure('away', error instanceof TransportError ? error.message : 'its answer could not be read')
  }
  const { status } = answered
  if (status >= 200 && status < 300) return { status, body: bytes }
  throw new SinkFailure(kindOf(status), `it answered ${status}`, retryAfterSeconds(answered.headers, Date.now()))
}

/** Statuses that refuse the entries for good. A wrong address or credential can be corrected while they wait. */
const REFUSED: ReadonlySet<number> = new Set([400, 415, 422])

function kindOf(status: number): SinkFailure['kind'] {
  if (status === 413) return 'too_large'
  return REFUSED.has(status) ? 'refused' : 'away'
}
