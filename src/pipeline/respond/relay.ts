import type { Abort } from '../../lib/abort.ts'
import { joinBytes } from '../../lib/bytes/bytes.ts'
import { GatewayError } from '../../lib/errors.ts'
import { atMost } from '../../lib/timers/at-most.ts'
import type { StreamStep } from '../../providers/provider.ts'
import type { OpenStream } from '../attempt/attempt.ts'
import { clean } from '../attempt/exchange.ts'
import type { Call } from '../call.ts'
import { type ClientStream, clientClosed, departure, untaken } from '../client.ts'
import { asUpstreamFailure } from '../failures.ts'
import { isAwaited, noteMade } from '../ids/made-ids.ts'
import { remember } from '../memory/remember.ts'
import type { Continuation } from './continue-elsewhere.ts'
import { KEEP_ALIVE } from './keep-alive.ts'

/** Called when an answer has ended, with the failure if there was one. Resolves when the call no longer holds anything
 *  that the client's next call might be refused for. */
export type Over = (failure: GatewayError | undefined) => Promise<unknown> | undefined

/** The least time that a client gets to take the end of its answer, even past the call's deadline. */
export const LAST_WRITE_MS = 5000

/** Bounds a write after the upstream's clocks have stopped: aborts the answer if the client does not take it in time.
 *  Rejects when the client leaves. */
export function takenInTime(
  call: Call,
  client: ClientStream,
  writing: Promise<void> | undefined,
): Promise<void> | undefined {
  if (!writing) return undefined
  const limitMs = Math.max(LAST_WRITE_MS, call.deadline - performance.now())
  return atMost(limitMs, unlessLeft(writing, call.client.signal)).then((inTime) => {
    if (inTime) return
    client.abort()
    throw untaken()
  })
}

/** A write to a client that has left may never end. One that is there still gets the rest, even if the gateway ends the
 *  call. */
function unlessLeft(writing: Promise<void>, signal: Abort): Promise<void> {
  return new Promise((resolve, reject) => {
    const left = () => {
      const why = departure(signal)
      if (why.failure === 'client_closed') reject(why)
    }
    const over = () => signal.removeEventListener('abort', left)
    if (signal.aborted) left()
    else signal.addEventListener('abort', left, { once: true })
    writing.then(resolve, reject).finally(over)
  })
}

/** How long a complete answer waits for its usage and its formal end. */
const GRACE_MS = 2000

/** The same while the provider sends only keep-alives. */
const LONGEST_GRACE_MS = 10_000

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
      next?.exchange.release()
      next?.body.cancel()
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
    if (failure && stream.endsWithBody) return breakOff(client, failure)
    if (failure) {
      const told = stream.reader.failing?.(failure) ?? call.endpoint.errorEvent(failure)
      await takenInTime(call, client, client.write(told))
    } else if (closing) await takenInTime(call, client, client.write(closing))
    await client.close()
  } catch {
    return failure ?? clientClosed()
  }
  return failure
}

interface Carried {
  readonly failure: GatewayError | undefined
  /** The formal end was written or is in `last`. */
  readonly done: boolean
  /** Bytes still to be written. */
  readonly last: Uint8Array | undefined
}

/** Carries one upstream stream to its end. After the client left it is still read for a short grace period, because its
 *  usage may be about to arrive. */
async function carry(call: Call, stream: OpenStream, client: ClientStream): Promise<Carried> {
  const { signal } = call.client
  const { exchange } = stream
  let deserted = false
  const isGone = () => deserted || signal.aborted
  let finished = false
  let endBy = Number.POSITIVE_INFINITY
  let done = false
  let failure: GatewayError | undefined
  let last: Uint8Array | undefined
  // A keep-alive may be due while the loop waits for the upstream; the two must not write at once.
  let writing: Promise<void> | undefined
  exchange.clocks.onSilence(() => {
    // Binary audio has no room for comments.
    if (stream.endsWithBody) return
    writing = (writing ?? Promise.resolve()).then(() => client.write(KEEP_ALIVE)).catch(() => {})
  })

  const take = (steps: readonly StreamStep[]): Uint8Array[] => {
    const out: Uint8Array[] = []
    for (const step of steps) {
      if (step.failure) {
        failure = clean(exchange, step.failure)
        break
      }
      if (step.malformed) call.malformedEvents += 1
      if (step.usage) call.usage = step.usage
      if (step.made) noteMade(call, step.made)
      if (step.characters) call.outputCharacters += step.characters
      if (step.finished && !finished) {
        finished = true
        exchange.parting.complete()
        endBy = performance.now() + LONGEST_GRACE_MS
        exchange.clocks.finished(GRACE_MS)
      }
      // A truncated answer must not get its formal end: the error event takes its place.
      if (step.out && (finished || !step.done)) {
        call.recording?.piece(step.out)
        out.push(step.out)
      }
      if (step.done) {
        done = true
        break
      }
    }
    return out
  }

  let wake: (() => void) | undefined
  const leftAlone = () => wake?.()
  signal.addEventListener('abort', leftAlone, { once: true })
  /** Waits until the client took the write or left. Meanwhile the upstream's silence is not measured. */
  const taking = async (work: Promise<void>): Promise<void> => {
    exchange.clocks.waiting(client.abort)
    if (!signal.aborted) {
      await new Promise<void>((resolve, reject) => {
        wake = resolve
        work.then(resolve, reject)
      })
    }
    exchange.clocks.received()
    if (finished) endBy = performance.now() + LONGEST_GRACE_MS
  }

  try {
    let out = take(stream.backlog)
    for (;;) {
      if (out.length > 0 && !isGone()) {
        try {
          if (writing) await taking(writing)
          if (done && isAwaited(call)) last = joinBytes(out)
          else {
            const piece = joinBytes(out)
            call.cache?.collected?.add(piece)
            const full = client.write(piece)
            if (full) await taking(full)
          }
        } catch {
          deserted = true
          exchange.parting.left()
        }
      }
      if (failure || done || (finished && (performance.now() > endBy || (isGone() && call.usage)))) break
      const piece = await stream.body.read()
      if (piece === undefined) {
        finished ||= stream.endsWithBody
        done ||= stream.endsWithBody
        break
      }
      exchange.clocks.received()
      out = take(stream.reader.push(piece))
    }
  } catch (error) {
    failure ??= exchange.ended.reason ?? truncated(asUpstreamFailure(error))
  }
  exchange.release()
  stream.body.cancel()
  signal.removeEventListener('abort', leftAlone)

  if (isGone() && failure?.failure !== 'client_closed') failure = signal.aborted ? departure(signal) : clientClosed()
  // A timeout after a complete answer cuts only its formal end: no failure.
  if (failure && finished && failure.failure !== 'client_closed') failure = undefined
  if (!failure && !finished) {
    failure = new GatewayError('upstream_truncated', "The provider's stream ended before its answer was complete.")
  }
  // A write to a client that has left may never finish.
  if (failure?.failure !== 'client_closed') {
    try {
      await takenInTime(call, client, writing)
    } catch {
      failure = untaken()
    }
  }
  return { failure, done, last }
}

/** A connection failure after the answer began counts as truncation, whatever the transport reports. */
function truncated(failure: GatewayError): GatewayError {
  if (failure.failure !== 'upstream_unreachable') return failure
  return new GatewayError('upstream_truncated', "The provider's connection broke before its answer was complete.", {
    cause: failure,
  })
}

function breakOff(client: ClientStream, failure: GatewayError): GatewayError {
  client.abort()
  return failure
}
