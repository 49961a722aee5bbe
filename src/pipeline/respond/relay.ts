import type { GatewayError } from '../../lib/errors.ts'
import { abandon, type OpenStream } from '../attempt/attempt.ts'
import type { Call } from '../call.ts'
import { type ClientStream, clientClosed, departure } from '../client.ts'
import { isAwaited } from '../ids/made-ids.ts'
import { remember } from '../memory/remember.ts'
import { carry } from './carry.ts'
import type { Continuation } from './continue-elsewhere.ts'
import { takenInTime } from './taken-in-time.ts'

/** Called when an answer has ended, with the failure if there was one. Resolves when the call no longer holds anything
 *  that the client's next call might be refused for. */
export type Over = (failure: GatewayError | undefined) => Promise<unknown> | undefined

/** Carries a committed stream to the client and, if it fails, a continuation by another deployment. Resolves when the
 *  client's answer has ended: undefined if it ended well, else the failure. Never rejects. If the call might block the
 *  client's next one, the end is sent only after settlement. */
export async function relay(
  call: Call,
  first: OpenStream,
  client: ClientStream,
  over: Over,
  continueAnswer?: Continuation,
): Promise<GatewayError | undefined> {
  let stream = first
  let { failure, done, last } = await carry(call, stream, client)
  while (failure && continueAnswer && failure.failure !== 'client_closed') {
    const next = await continueAnswer(failure)
    if (call.client.signal.aborted) {
      if (next) abandon(next)
      failure = departure(call.client.signal)
      break
    }
    if (!next) break
    stream = next
    ;({ failure, done, last } = await carry(call, stream, client))
  }
  if (failure?.failure === 'client_closed') return failure
  const closing = failure || done ? undefined : stream.reader.closing()
  const tail = last ?? closing
  if (tail) call.cache?.collected?.add(tail)
  if (tail && !failure) remember(call, tail)
  if (isAwaited(call)) await over(failure)
  try {
    if (last) await takenInTime(call, client, client.write(last))
    if (failure && stream.endsWithBody) {
      client.abort()
      return failure
    }
    if (failure) {
      const event = stream.reader.failing?.(failure) ?? call.endpoint.errorEvent(failure)
      await takenInTime(call, client, client.write(event))
    } else if (closing) await takenInTime(call, client, client.write(closing))
    await client.close()
  } catch {
    return failure ?? clientClosed()
  }
  return failure
}
