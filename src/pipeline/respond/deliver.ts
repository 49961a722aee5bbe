import { GatewayError } from '../../lib/errors.ts'
import type { Call } from '../call.ts'
import { departure } from '../client.ts'
import type { Over } from './relay.ts'
import { takenInTime } from './taken-in-time.ts'

/** Shorter answers are handed to the runtime in one piece. */
const LONG_BYTES = 65_536

/** The size of a write: a client must take this much within the stall timeout. */
const PIECE_BYTES = 262_144

/** The bytes held back until the call is settled. */
const LAST_BYTES = 4096

export const isLong = (bytes: Uint8Array): boolean => bytes.byteLength > LONG_BYTES

/** Sends a long answer at the client's pace. The call is settled before the last bytes are sent: until then it keeps
 *  its slots and holds, and a client that has the whole answer may call again at once. */
export function deliver(call: Call, bytes: Uint8Array, over: Over): ReadableStream<Uint8Array> {
  const client = call.client.openStream(bytes.byteLength)
  const { signal } = call.client
  const last = bytes.byteLength - LAST_BYTES
  const leave = () => client.abort()
  const served = call.attempts.at(-1)
  // From here on the time is spent by the client.
  if (served) served.endedAt ??= performance.now()

  async function send(): Promise<void> {
    call.client.discard?.(bytes)
    for (let from = 0; from < last; from += PIECE_BYTES) {
      await takenInTime(call, client, client.write(bytes.subarray(from, Math.min(from + PIECE_BYTES, last))))
      if (signal.aborted) throw departure(signal)
    }
    await over(undefined)
    await takenInTime(call, client, client.write(bytes.subarray(last)))
    await client.close()
  }

  signal.addEventListener('abort', leave, { once: true })
  const sent = send()
    .catch((error) => over(error instanceof GatewayError ? error : departure(signal)))
    .finally(() => signal.removeEventListener('abort', leave))
  call.client.defer(sent)
  return client.readable
}
