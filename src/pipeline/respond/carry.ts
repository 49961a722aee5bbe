import { joinBytes } from '../../lib/bytes/bytes.ts'
import { GatewayError } from '../../lib/errors.ts'
import { addOrRelease } from '../../lib/footprints.ts'
import type { StreamStep } from '../../providers/provider.ts'
import { BodyTooLarge } from '../../transport/transport.ts'
import { abandon, type OpenStream } from '../attempt/attempt.ts'
import { clean } from '../attempt/exchange.ts'
import { REPLY_LIMIT_BYTES } from '../attempt/open-answer.ts'
import type { Call } from '../call.ts'
import { type ClientStream, clientClosed, departure, untaken } from '../client.ts'
import { asUpstreamFailure } from '../failures.ts'
import { isAwaited, noteMade } from '../ids/made-ids.ts'
import { KEEP_ALIVE } from './keep-alive.ts'
import { takenInTime } from './taken-in-time.ts'

/** How long a complete answer waits for its usage and its formal end. */
const GRACE_MS = 2000

/** The same while the provider sends only keep-alives. */
const LONGEST_GRACE_MS = 10_000

/** The memory of a character of an answer that is kept until its end: the last events of a response repeat it. */
const KEPT_BYTES = 4

/** How far one upstream stream has been carried to the client. */
interface Carriage {
  readonly call: Call
  readonly stream: OpenStream
  readonly client: ClientStream
  /** A write to the client failed. */
  deserted: boolean
  /** The answer is complete except for its usage and its formal end. */
  finished: boolean
  /** The `performance.now()` until which a finished answer waits for the rest. */
  endBy: number
  /** The formal end was written or is in `last`. */
  done: boolean
  failure: GatewayError | undefined
  /** Bytes still to be written: the end of an answer that waits for its settlement. */
  last: Uint8Array | undefined
  /** The keep-alives being written. One may be due while the loop waits for the upstream, and two writes must not overlap. */
  writing: Promise<void> | undefined
  /** Ends the wait for a write, when the client leaves. */
  wake: (() => void) | undefined
}

export type Carried = Readonly<Pick<Carriage, 'failure' | 'done' | 'last'>>

/** Carries one upstream stream to its end. After the client left it is still read for a short grace period, because its
 *  usage may be about to arrive. */
export async function carry(call: Call, stream: OpenStream, client: ClientStream): Promise<Carried> {
  const carriage: Carriage = {
    call,
    stream,
    client,
    deserted: false,
    finished: false,
    endBy: Number.POSITIVE_INFINITY,
    done: false,
    failure: undefined,
    last: undefined,
    writing: undefined,
    wake: undefined,
  }
  const { signal } = call.client
  const { exchange } = stream
  // Binary audio has no room for comments.
  if (!stream.endsWithBody) exchange.clocks.onSilence(() => keepAlive(carriage))
  const left = () => carriage.wake?.()
  signal.addEventListener('abort', left, { once: true })
  try {
    await pump(carriage)
  } catch (error) {
    carriage.failure ??= exchange.ended.reason ?? truncated(asUpstreamFailure(error))
  }
  abandon(stream)
  signal.removeEventListener('abort', left)
  carriage.failure = outcome(carriage)
  // A write to a client that has left may never finish.
  if (carriage.failure?.failure !== 'client_closed') {
    try {
      await takenInTime(call, client, carriage.writing)
    } catch {
      carriage.failure = untaken()
    }
  }
  return carriage
}

function keepAlive(carriage: Carriage): void {
  const { client, writing = Promise.resolve() } = carriage
  carriage.writing = writing.then(() => client.write(KEEP_ALIVE)).catch(() => {})
}

/** Reads the upstream and writes to the client until the answer has ended. */
async function pump(carriage: Carriage): Promise<void> {
  const { call, stream } = carriage
  const before = call.outputCharacters
  const keeps = stream.reader.repeats || stream.answerSoFar
  let out = take(carriage, stream.backlog)
  let unread = 0
  let counted = 0
  for (;;) {
    if (out.length > 0 && !isGone(carriage)) {
      try {
        if (carriage.writing) await taken(carriage, carriage.writing)
        const full = write(carriage, joinBytes(out))
        if (full) await taken(carriage, full)
      } catch {
        carriage.deserted = true
        stream.exchange.parting.left()
      }
    }
    if (carriage.failure || carriage.done) return
    if (carriage.finished && (performance.now() > carriage.endBy || (isGone(carriage) && call.usage))) return
    const piece = await stream.body.read()
    if (piece === undefined) {
      carriage.finished ||= stream.endsWithBody
      carriage.done ||= stream.endsWithBody
      return
    }
    stream.exchange.clocks.received()
    const steps = stream.reader.push(piece)
    // An event is in memory until it is whole, and then until the client has taken it.
    unread = steps.length > 0 ? 0 : unread + piece.byteLength
    const kept = keeps ? KEPT_BYTES * (call.outputCharacters - before) : 0
    if (kept > REPLY_LIMIT_BYTES) throw new BodyTooLarge(`the answer has ${kept} bytes`)
    if (unread + kept > counted) {
      addOrRelease(call.footprint, unread + kept - counted)
      counted = unread + kept
    }
    out = take(carriage, steps)
  }
}

/** Whether nothing more can be written. If the gateway itself ends the call, its client is there: it still gets what has
 *  come, and then the end or the error. */
function isGone({ deserted, call }: Carriage): boolean {
  const { signal } = call.client
  return deserted || (signal.aborted && departure(signal).failure === 'client_closed')
}

/** Notes what some steps tell, and returns the bytes to write. */
function take(carriage: Carriage, steps: readonly StreamStep[]): Uint8Array[] {
  const { call, stream } = carriage
  const out: Uint8Array[] = []
  for (const step of steps) {
    if (step.failure) {
      carriage.failure = clean(stream.exchange, step.failure)
      break
    }
    if (step.malformed) call.malformedEvents += 1
    if (step.usage) call.usage = step.usage
    if (step.made) noteMade(call, step.made)
    if (step.characters) call.outputCharacters += step.characters
    if (step.finished && !carriage.finished) finish(carriage)
    // A truncated answer must not get its formal end: the error event takes its place.
    if (step.out && (carriage.finished || !step.done)) {
      call.recording?.piece(step.out)
      out.push(step.out)
    }
    if (step.done) {
      carriage.done = true
      break
    }
  }
  return out
}

function finish(carriage: Carriage): void {
  const { parting, clocks } = carriage.stream.exchange
  carriage.finished = true
  carriage.endBy = performance.now() + LONGEST_GRACE_MS
  parting.complete()
  clocks.finished(GRACE_MS)
}

/** Writes to the client, or keeps the end of the answer back until the call is settled. */
function write(carriage: Carriage, piece: Uint8Array): Promise<void> | undefined {
  const { call, client } = carriage
  if (carriage.done && isAwaited(call)) {
    carriage.last = piece
    return undefined
  }
  call.cache?.collected?.add(piece)
  return client.write(piece)
}

/** Waits until the client took a write or left. Meanwhile the upstream's silence is not measured. */
async function taken(carriage: Carriage, work: Promise<void>): Promise<void> {
  const { call, stream, client } = carriage
  const { clocks } = stream.exchange
  clocks.waiting(client.abort)
  await new Promise<void>((resolve, reject) => {
    carriage.wake = resolve
    // Listened to in any case: the client may have left before the write, and a rejection must not stay unhandled.
    work.then(resolve, reject)
    if (call.client.signal.aborted) resolve()
  })
  clocks.received()
  if (carriage.finished) carriage.endBy = performance.now() + LONGEST_GRACE_MS
}

/** How the stream ended for the client. */
function outcome(carriage: Carriage): GatewayError | undefined {
  const { failure, finished, call } = carriage
  const { signal } = call.client
  if (failure?.failure === 'client_closed') return failure
  if (isGone(carriage)) {
    const why = signal.aborted ? departure(signal) : clientClosed()
    if (why.failure === 'client_closed') return why
    return finished ? undefined : why
  }
  // A timeout after a complete answer cuts only its formal end: no failure.
  if (finished) return undefined
  if (signal.aborted) return departure(signal)
  return (
    failure ?? new GatewayError('upstream_truncated', "The provider's stream ended before its answer was complete.")
  )
}

/** A connection failure after the answer began counts as truncation, whatever the transport reports. */
function truncated(failure: GatewayError): GatewayError {
  if (failure.failure !== 'upstream_unreachable') return failure
  return new GatewayError('upstream_truncated', "The provider's connection broke before its answer was complete.", {
    cause: failure,
  })
}
