import { GatewayError } from '../../lib/errors.ts'
import type { Outgoing, StreamStep } from '../../providers/provider.ts'
import type { UpstreamBody, UpstreamResponse } from '../../transport/transport.ts'
import type { Attempt } from '../call.ts'
import type { Translator, WrittenReader } from '../translate/translator.ts'
import type { AnswerSoFar } from './answer-so-far.ts'
import type { Clocks } from './clocks.ts'
import { unstreamed } from './in-one.ts'

/** The most of an answer that is held at once. */
export const REPLY_LIMIT_BYTES = 64 * 1024 * 1024
/** What a stream may say before it begins to answer: as much as an event may, and the one that begins it. */
const PREFACE_LIMIT_BYTES = 32 * 1024 * 1024
const SERVER_SENT_EVENTS = /^text\/event-stream\b/i
/** What says that something went wrong, whatever its status is. */
const DOCUMENT = /^(text\/html|application\/([\w.-]+\+)?json)\b/i

const NOTHING_MORE: WrittenReader = { push: () => [], closing: () => new Uint8Array() }

/** What an attempt asks, and how. */
export interface AttemptRequest {
  readonly translator: Translator
  readonly outgoing: Outgoing
  /** Where somebody else could go on with the answer: what it says. */
  readonly answerSoFar?: AnswerSoFar | undefined
}

/** An answer whose first content has been seen. */
export interface Opened {
  readonly body: UpstreamBody
  readonly reader: WrittenReader
  /** The end of the body is the end of the answer: bytes that are not events. */
  readonly endsWithBody: boolean
  /** What was read up to the commit, still to be written to the client. */
  readonly backlog: StreamStep[]
}

/** Reads up to the first content. */
export async function openEvents(
  tried: Attempt,
  { translator, outgoing, answerSoFar }: AttemptRequest,
  { body, headers }: UpstreamResponse,
  clocks: Clocks,
): Promise<Opened> {
  if (!translator.stream) throw unstreamed()
  if (!(translator.streamType ?? SERVER_SENT_EVENTS).test(headers['content-type'] ?? '')) {
    // What went wrong, or the whole answer: some models know no streams, and their providers do not say so.
    const bytes = await body.bytes(REPLY_LIMIT_BYTES)
    if (!translator.inOne) {
      translator.reply(bytes, headers, outgoing)
      throw unstreamed()
    }
    const backlog = translator.inOne(bytes, headers, outgoing)
    tried.firstTokenAt = performance.now()
    clocks.committed()
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
    // Those before them were looked at when they came: a provider may say nothing in many pieces.
    const steps = reader.push(piece)
    for (const step of steps) {
      if (step.failure) throw step.failure
      backlog.push(step)
    }
    if (steps.some((step) => step.commits || (step.characters ?? 0) > 0)) {
      tried.firstTokenAt = performance.now()
      clocks.committed()
      return { body, reader, endsWithBody: false, backlog }
    }
    if (steps.some((step) => step.done)) {
      throw new GatewayError('upstream_truncated', "The provider's stream ended without an answer.")
    }
    prefaceBytes += piece.byteLength
    if (prefaceBytes > PREFACE_LIMIT_BYTES) {
      throw new GatewayError('unusable_answer', "What the provider's stream says before it answers is too large.")
    }
  }
}

/** Reads the first bytes of an answer that is passed on unread. */
export async function openBody(tried: Attempt, { body, headers }: UpstreamResponse, clocks: Clocks): Promise<Opened> {
  if (DOCUMENT.test(headers['content-type'] ?? '')) {
    throw new GatewayError('upstream_malformed', "The provider's answer is a document, not a sound.")
  }
  const reader: WrittenReader = { push: (piece) => [{ out: piece }], closing: () => new Uint8Array() }
  const first = await body.read()
  if (first === undefined) throw new GatewayError('unusable_answer', "The provider's answer is empty.")
  tried.firstTokenAt = performance.now()
  clocks.committed()
  return { body, reader, endsWithBody: true, backlog: [{ out: first }] }
}
