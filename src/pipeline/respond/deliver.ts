import { GatewayError } from '../../lib/errors.ts'
import type { Call } from '../call.ts'
import { departure } from '../client.ts'
import { type Over, takenInTime } from './relay.ts'

/** A shorter answer is out of our hands as soon as it is written. */
const LONG_BYTES = 65_536

/** What is written before the client is waited for: what it takes within the stall timeout to be one that reads. */
const PIECE_BYTES = 262_144

/** What is kept back until the call is over. */
const LAST_BYTES = 4096

export const isLong = (bytes: Uint8Array): boolean => bytes.byteLength > LONG_BYTES

/** Gives a client a long answer at its own pace. The call is over when the client has all of it but the last bytes: until
 *  then it holds what it holds, and who has the whole answer may call again at once. */
export function deliver(call: Call, bytes: Uint8Array, over: Over): ReadableStream<Uint8Array> {
  const client = call.client.openStream(bytes.byteLength)
  const { signal } = call.client
  const last = bytes.byteLength - LAST_BYTES
  const leave = () => client.abort()
  const served = call.attempts.at(-1)
  // The rest of the time is the client's.
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
