import { withoutMark } from '../../lib/bytes/without-mark.ts'
import { GatewayError } from '../../lib/errors.ts'
import type { Outgoing, StreamStep } from '../../providers/provider.ts'
import type { UpstreamBody, UpstreamResponse } from '../../transport/transport.ts'
import { isUnfinished } from '../cache/is-unfinished.ts'
import type { Attempt } from '../call.ts'
import type { Translator } from '../translate/translator.ts'
import { unstreamed } from '../translate/whole-as-stream.ts'
import type { WrittenReader } from '../translate/written-reply.ts'
import type { AnswerSoFar } from './answer-so-far.ts'
import type { Clocks } from './clocks.ts'

/** The largest answer that is held in memory. */
export const REPLY_LIMIT_BYTES = 64 * 1024 * 1024
/** The most bytes that a stream may send before its first content: as much as one event may hold, and the event before
 *  it. */
const PREFACE_LIMIT_BYTES = 32 * 1024 * 1024
/** The memory that an event takes beside its bytes, which may be only three. */
const STEP_BYTES = 256
const SERVER_SENT_EVENTS = /^text\/event-stream\b/i
/** Content types of error documents, whatever the status. */
const DOCUMENT = /^(text\/(?!event-stream)|application\/([\w.-]+\+)?(json|xml)\b)/i

const NOTHING_MORE: WrittenReader = { push: () => [], closing: () => new Uint8Array() }

/** The request of an attempt and the translator that it goes through. */
export interface AttemptRequest {
  readonly translator: Translator
  readonly outgoing: Outgoing
  /** Records the answer, if another deployment could continue it. */
  readonly answerSoFar?: AnswerSoFar | undefined
  /** What the provider said when it refused earlier forms of it. */
  readonly refusals?: readonly string[]
}

/** An answer whose first content has arrived. */
export interface Opened {
  readonly body: UpstreamBody
  readonly reader: WrittenReader
  /** The answer ends with the body, because its bytes are not events. */
  readonly endsWithBody: boolean
  /** The steps read up to the commit, not yet written to the client. */
  readonly backlog: StreamStep[]
}

type Headers = UpstreamResponse['headers']
export const isEventStream = (headers: Headers) => SERVER_SENT_EVENTS.test(headers['content-type'] ?? '')
/** Whether an answer is a document instead of a sound. */
export const isDocument = (headers: Headers) => DOCUMENT.test(headers['content-type'] ?? '')

/** Reads a stream up to its first content. Calls `arrived` before keeping bytes, as `UpstreamBody.bytes` does. */
export async function openEvents(
  tried: Attempt,
  { translator, outgoing, answerSoFar }: AttemptRequest,
  { body, headers }: UpstreamResponse,
  { clocks, arrived }: { readonly clocks: Clocks; readonly arrived: (bytes: number) => void },
): Promise<Opened> {
  const isStream = translator.streamType?.test(headers['content-type'] ?? '') ?? isEventStream(headers)
  if (!translator.stream || !isStream) {
    // Not an event stream: an error document, or a whole answer from a model that cannot stream.
    const bytes = withoutMark(await body.bytes(REPLY_LIMIT_BYTES, arrived))
    if (!translator.wholeAsStream) {
      translator.reply(bytes, headers, outgoing)
      throw unstreamed()
    }
    const backlog = translator.wholeAsStream(bytes, headers, outgoing)
    tried.unfinished = isUnfinished(bytes)
    clocks.committed()
    tried.firstTokenAt = performance.now()
    return { body, reader: NOTHING_MORE, endsWithBody: false, backlog }
  }
  const reader = translator.stream(outgoing, headers, answerSoFar?.add)
  const backlog: StreamStep[] = []
  let prefaceBytes = 0
  for (;;) {
    const piece = await body.read()
    if (piece === undefined) {
      throw new GatewayError('upstream_truncated', "The provider's stream ended before it began to answer.")
    }
    clocks.received()
    // Only the new steps are checked: the preface may come in many pieces.
    const steps = reader.push(piece)
    for (const step of steps) {
      if (step.failure) throw step.failure
      backlog.push(step)
    }
    if (steps.some((step) => step.commits || (step.characters ?? 0) > 0)) {
      clocks.committed()
      tried.firstTokenAt = performance.now()
      return { body, reader, endsWithBody: false, backlog }
    }
    if (steps.some((step) => step.done)) {
      throw new GatewayError('upstream_truncated', "The provider's stream ended without an answer.")
    }
    const keptBytes = piece.byteLength + steps.length * STEP_BYTES
    arrived(keptBytes)
    prefaceBytes += keptBytes
    if (prefaceBytes > PREFACE_LIMIT_BYTES) {
      throw new GatewayError('unusable_answer', "What the provider's stream says before it answers is too large.")
    }
  }
}

/** Reads the first bytes of an answer whose body passes through unparsed. */
export async function openBody(tried: Attempt, { body, headers }: UpstreamResponse, clocks: Clocks): Promise<Opened> {
  if (isDocument(headers)) {
    throw new GatewayError('upstream_malformed', "The provider's answer is a document, not a sound.")
  }
  const reader: WrittenReader = { push: (piece) => [{ out: piece }], closing: () => new Uint8Array() }
  const first = await body.read()
  if (first === undefined) throw new GatewayError('unusable_answer', "The provider's answer is empty.")
  clocks.committed()
  tried.firstTokenAt = performance.now()
  return { body, reader, endsWithBody: true, backlog: [{ out: first }] }
}
