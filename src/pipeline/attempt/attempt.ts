import type { Abort } from '../../lib/abort.ts'
import { EVENTS_TYPE } from '../../lib/bytes/sse.ts'
import { withoutMark } from '../../lib/bytes/without-mark.ts'
import type { UpstreamResponse } from '../../transport/transport.ts'
import { startProbeRenewal } from '../admit/lease-renewal.ts'
import { isUnfinished } from '../cache/is-unfinished.ts'
import type { Attempt, Call } from '../call.ts'
import { continuationTargets } from '../plan/continuation-targets.ts'
import type { PipelineServices } from '../services.ts'
import { translatorOf } from '../translate/translator.ts'
import type { WrittenReply } from '../translate/written-reply.ts'
import { type AnswerSoFar, newAnswerSoFar } from './answer-so-far.ts'
import { askedAgain, askedAsKnown } from './asked-again.ts'
import { ask, fail, newExchange, refusalIn, release, type UpstreamExchange, uploaded } from './exchange.ts'
import { inChatInstead } from './in-chat-instead.ts'
import {
  type AttemptRequest,
  isEventStream,
  type Opened,
  openBody,
  openEvents,
  REPLY_LIMIT_BYTES,
} from './open-answer.ts'
import { settleCommitted } from './settle-ended.ts'
import { withDefaults } from './with-defaults.ts'

/** The result of an attempt at its commit point. */
export type Committed =
  | { readonly kind: 'whole'; readonly reply: WrittenReply }
  | { readonly kind: 'stream'; readonly stream: OpenStream; readonly contentType: string }

/** An upstream stream whose first content has been seen. */
export interface OpenStream extends Opened {
  readonly exchange: UpstreamExchange
  /** What the stream has sent so far; only kept if another deployment could continue it. */
  readonly answerSoFar: AnswerSoFar | undefined
}

/** Ends a stream of which nothing more is wanted. */
export function abandon({ exchange, body }: Pick<OpenStream, 'exchange' | 'body'>): void {
  release(exchange)
  body.cancel()
}

/** Asks one deployment. Resolves at the commit point: a whole answer, or the first content of a stream. Before that
 *  every failure is thrown as a GatewayError and the client has seen nothing. `lostHedgeSignal` aborts the attempt
 *  because another one committed first. */
export async function attempt(
  services: PipelineServices,
  call: Call,
  tried: Attempt,
  first: AttemptRequest = attemptRequestOf(services, call, tried),
  lostHedgeSignal?: Abort,
): Promise<Committed> {
  const exchange = newExchange(services, call, tried, first.translator, lostHedgeSignal)
  const { clocks, parting } = exchange
  const stopRenewal = tried.reserved.probe ? startProbeRenewal(services, call, tried) : undefined
  try {
    let asked = first
    let response: UpstreamResponse
    for (;;) {
      response = await ask(exchange, asked)
      clocks.received()
      tried.upstreamStatus = response.status
      if (isSuccess(response)) break
      const failure = await refusalIn(exchange, asked.translator, response)
      const again = askedAgain(tried.deployment, asked, failure)
      const refused = { status: response.status, failure }
      if (!again && !inChatInstead(call, tried.deployment, asked.translator, refused)) throw failure
      asked = again ?? attemptRequestOf(services, call, tried)
    }
    const { translator, answerSoFar } = asked
    const outgoing = call.form ? await uploaded(exchange, call.form) : asked.outgoing
    const { headers, body } = response
    if (!call.streamed && !translator.unparsed) {
      parting.begun()
      const bytes = withoutMark(await body.bytes(REPLY_LIMIT_BYTES, call.footprint.add))
      const reply = translator.reply(bytes, headers, outgoing)
      if (call.cache?.collected) tried.unfinished = isUnfinished(bytes)
      tried.firstTokenAt = performance.now()
      release(exchange)
      return { kind: 'whole', reply }
    }
    const isSound = translator.unparsed === true && !(translator.stream && isEventStream(headers))
    const opened = isSound
      ? await openBody(tried, response, clocks)
      : await openEvents(tried, { translator, outgoing, answerSoFar }, response, {
          clocks,
          arrived: call.footprint.add,
        })
    settleCommitted(services, call, tried)
    if (!isSound) parting.begun()
    return {
      kind: 'stream',
      contentType: isSound ? (headers['content-type'] ?? 'application/octet-stream') : EVENTS_TYPE,
      stream: { ...opened, answerSoFar, exchange },
    }
  } catch (error) {
    const failure = fail(exchange, error)
    if (!tried.lostHedge) {
      tried.failure = failure
      tried.endedAt = performance.now()
    }
    throw failure
  } finally {
    stopRenewal?.()
  }
}

const isSuccess = ({ status }: UpstreamResponse) => status >= 200 && status <= 299

/** Builds the request of an attempt, and starts recording the answer if another deployment could continue it. */
function attemptRequestOf(services: PipelineServices, call: Call, tried: Attempt): AttemptRequest {
  const { deployment } = tried
  const translator = translatorOf(deployment, call.endpoint.mode, call.endpoint.dialect)
  if (!translator) throw new TypeError(`deployment '${deployment.id}' was not filtered by what it takes`)
  const outgoing = withDefaults(call, deployment, translator.translates === true, tried)
  const continuable = continuationTargets(services, call, tried, undefined).length > 0
  const answerSoFar = continuable ? newAnswerSoFar() : undefined
  return askedAsKnown(deployment, { translator, outgoing, answerSoFar })
}
