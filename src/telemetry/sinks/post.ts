import type { Abort } from '../../lib/abort.ts'
import { retryAfterSeconds } from '../../lib/retry-after.ts'
import type { Secret } from '../../lib/secret.ts'
import { atMost } from '../../lib/timers/at-most.ts'
import { type RequestBody, type Transport, TransportError } from '../../transport/transport.ts'
import { SinkFailure } from './sink.ts'

/** The longest answer that is read, and how long it may take behind its head. The status alone says what has become of the
 *  entries. */
const ANSWER_BYTES = 256 * 1024
const REST_MS = 2000
const NOTHING = new Uint8Array()

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
  try {
    answered = await transport.send({ method, origin, path: pathname + search, headers, body }, abort)
  } catch (error) {
    if (error instanceof SinkFailure) throw error
    throw new SinkFailure('away', error instanceof TransportError ? error.message : 'its answer could not be read')
  }
  const { status } = answered
  const rest = await atMost(
    REST_MS,
    answered.body.bytes(ANSWER_BYTES).catch(() => undefined),
  )
  if (!rest) answered.body.cancel()
  if (status >= 200 && status < 300) return { status, body: rest?.value ?? NOTHING }
  throw new SinkFailure(kindOf(status), `it answered ${status}`, retryAfterSeconds(answered.headers, Date.now()))
}

/** Statuses that refuse the entries for good. A wrong address or credential can be corrected while they wait. */
const REFUSED: ReadonlySet<number> = new Set([400, 415, 422])

function kindOf(status: number): SinkFailure['kind'] {
  if (status === 413) return 'too_large'
  return REFUSED.has(status) ? 'refused' : 'away'
}
