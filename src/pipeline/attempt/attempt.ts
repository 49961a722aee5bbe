import { type Abort, newAbort } from '../../lib/abort.ts'
import { GatewayError } from '../../lib/errors.ts'
import { atMost } from '../../lib/timers/at-most.ts'
import type { Outgoing } from '../../providers/provider.ts'
import { BodyTooLarge, TransportError, type UpstreamRequest, type UpstreamResponse } from '../../transport/transport.ts'
import { credentialsMasked, withoutSecrets } from '../../transport/without-secrets.ts'
import type { Attempt, Call } from '../call.ts'
import { departure, unsent } from '../client.ts'
import { lostId } from '../ids/lost-id.ts'
import { continuationTargets } from '../plan/continuation-targets.ts'
import { asFormFailure } from '../request/incoming-form.ts'
import { newParting, type Parting } from '../respond/parting.ts'
import type { PipelineServices } from '../services.ts'
import { refusedHints } from '../translate/refused-hints.ts'
import { type Translator, translatorOf, type WrittenReply } from '../translate/translator.ts'
import { type AnswerSoFar, newAnswerSoFar } from './answer-so-far.ts'
import { askWithForm, completed, ofSlowUpload, unlessAborted, watched } from './attempt-with-form.ts'
import { type Clocks, startAnswerClock, startClocks } from './clocks.ts'
import { inChatInstead } from './in-chat-instead.ts'
import { unstreamed } from './in-one.ts'
import {
  type AttemptRequest,
  isEventStream,
  type Opened,
  openBody,
  openEvents,
  REPLY_LIMIT_BYTES,
} from './open-answer.ts'
import { settleCommitted } from './settle-ended.ts'
import { requestOf, withTraceparent } from './upstream-request.ts'
import { upstreamWords } from './upstream-words.ts'
import { withDefaults } from './with-defaults.ts'

const ERROR_LIMIT_BYTES = 1024 * 1024
/** How long to wait for the body of an error. The status alone already decides that another deployment is asked. */
const ERROR_WAIT_MS = 2000
const EVENTS = 'text/event-stream; charset=utf-8'

/** The result of an attempt at its commit point. */
export type Committed =
  | { readonly kind: 'whole'; readonly reply: WrittenReply }
  | { readonly kind: 'stream'; readonly stream: OpenStream; readonly contentType: string }

/** An upstream stream whose first content has been seen. */
export interface OpenStream extends Opened {
  readonly clocks: Clocks
  readonly parting: Parting
  /** The failure without the credentials that were sent to the provider. */
  clean(failure: GatewayError): GatewayError
  /** Why the gateway ended the upstream request: a clock or the client; undefined if it did not. */
  reason(): GatewayError | undefined
  /** Stops listening to the client's signal and stops the timers. */
  release(): void
  /** What the stream has sent so far; only kept if another deployment could continue it. */
  readonly answerSoFar: AnswerSoFar | undefined
}

/** Asks one deployment. Resolves at the commit point: a whole answer, or the first content of a stream. Before that
 *  every failure is thrown as a GatewayError and the client has seen nothing. `lostHedgeSignal` aborts the attempt
 *  because another one committed first. */
export async function attempt(
  services: PipelineServices,
  call: Call,
  tried: Attempt,
  attemptRequest: AttemptRequest = attemptRequestOf(services, call, tried),
  lostHedgeSignal?: Abort,
): Promise<Committed> {
  let { translator, outgoing: asked, answerSoFar } = attemptRequest
  const { deployment } = tried
  const { client, form } = call
  const ended = newAbort<GatewayError>()
  let sent: UpstreamRequest['headers'] = {}

  const parting = newParting(() => ended.abort(departure(client.signal)))
  // A shutdown ends the upstream at once; a client that left allows a grace period.
  const left = () => {
    const why = departure(client.signal)
    if (why.failure === 'client_closed') parting.left()
    else ended.abort(why)
  }
  lostHedgeSignal?.addEventListener('abort', () =>
    ended.abort(new GatewayError('client_closed', 'Another answered first.')),
  )
  const clocks = clocksOf(services, call, tried, translator, (failure) => ended.abort(failure))
  const clientsTurn = () => clocks.waiting(() => {}, unsent)
  if (form) clientsTurn()
  const release = () => {
    clocks.stop()
    parting.stop()
    client.signal.removeEventListener('abort', left)
  }
  if (client.signal.aborted) left()
  else client.signal.addEventListener('abort', left, { once: true })

  const ask = (outgoing: Outgoing) => {
    if (call.streamed && !translator.stream && !translator.unparsed) throw unstreamed()
    const request = requestOf(services, deployment, call.hops, translator, outgoing, ended)
    const strict = call.strict || deployment.connection.parameters.strict
    if (strict && tried.dropped) throw refusedHints(tried.dropped)
    if (!(request instanceof Promise)) return send(request)
    // The request may depend on fields of the form that have not arrived.
    return (form ? unlessAborted(request, ended) : request).then(send)
  }
  const send = (built: UpstreamRequest): Promise<UpstreamResponse> => {
    if (ended.reason) throw ended.reason
    const request = withTraceparent(services, call, tried, built)
    sent = request.headers
    call.overheadMs ??= performance.now() - call.arrivedAt - (call.cache?.waitedMs ?? 0)
    const transport = deployment.provider.transport ?? services.transport
    tried.asked = true
    if (!form) return transport.send(request, ended)
    clocks.asked()
    const allSent = () => clocks.asked(awaiting(services, form.request?.stream === true))
    return transport.send(watched(request, { before: clientsTurn, after: clocks.asked, allSent }), ended)
  }

  const refusal = async ({ status, headers, body }: UpstreamResponse): Promise<GatewayError> => {
    const explanation = body.bytes(ERROR_LIMIT_BYTES).catch(() => new Uint8Array())
    const bytes = (await atMost(ERROR_WAIT_MS, explanation))?.value ?? new Uint8Array()
    tried.upstreamWords = credentialsMasked(upstreamWords(bytes), sent)
    const failure = translator.failure(status, headers, bytes, services.clock.now())
    return ended.reason ?? lostId(call.bounds, failure, { status, bytes }) ?? failure
  }

  try {
    let response = await (form ? askWithForm(call, form, deployment, ask, asked) : ask(asked))
    clocks.received()
    tried.upstreamStatus = response.status
    if (isRefusal(response)) {
      const failure = await refusal(response)
      if (!inChatInstead(call, deployment, translator, { status: response.status, failure })) throw failure
      ;({ translator, outgoing: asked, answerSoFar } = attemptRequestOf(services, call, tried))
      response = await ask(asked)
      clocks.received()
      tried.upstreamStatus = response.status
      if (isRefusal(response)) throw await refusal(response)
    }
    // An answer may begin before the upload ended; the clocks and the client bound the wait for the rest.
    if (form) clientsTurn()
    const outgoing = form ? await unlessAborted(completed(call, form, deployment), ended) : asked
    if (form) clocks.received()
    if (!call.streamed && !translator.unparsed) {
      parting.begun()
      const reply = translator.reply(
        await response.body.bytes(REPLY_LIMIT_BYTES, call.footprint.add),
        response.headers,
        outgoing,
      )
      tried.firstTokenAt = performance.now()
      release()
      return { kind: 'whole', reply }
    }
    const isSound = translator.unparsed === true && !(translator.stream && isEventStream(response.headers))
    const opened = isSound
      ? await openBody(tried, response, clocks)
      : await openEvents(tried, { translator, outgoing, answerSoFar }, response, clocks)
    settleCommitted(services, call, tried)
    const clean = (failure: GatewayError) => withoutSecrets(failure, sent)
    if (!isSound) parting.begun()
    return {
      kind: 'stream',
      contentType: isSound ? (response.headers['content-type'] ?? 'application/octet-stream') : EVENTS,
      stream: { ...opened, answerSoFar, clocks, parting, release, clean, reason: () => ended.reason },
    }
  } catch (error) {
    release()
    const failure = ended.reason ?? ofSlowUpload(withoutSecrets(asFailure(error, sentBytes(call)), sent), call)
    ended.abort(failure)
    if (!tried.lostHedge) {
      tried.failure = failure
      tried.endedAt = performance.now()
    }
    throw failure
  }
}

const isRefusal = ({ status }: UpstreamResponse) => status < 200 || status > 299

/** Starts the clocks of an attempt. */
function clocksOf(
  services: PipelineServices,
  call: Call,
  { deployment, plan }: Attempt,
  { unparsed }: Translator,
  expired: (failure: GatewayError) => void,
): Clocks {
  const { deadline, arrivedAt, form } = call
  const answerMs = 1000 * (deployment.timeoutSeconds ?? plan.settings.timeoutSeconds)
  const ends = { timers: services.timers, deadline, callMs: deadline - arrivedAt, answerMs, expired }
  if (!call.streamed && !form && !unparsed) return startAnswerClock(ends)
  const { firstTokenMs, idleMs } = awaiting(services, !form)
  return startClocks({
    ...ends,
    // Binary audio has no first token: only the attempt's timeout applies.
    firstTokenMs: unparsed ? Number.POSITIVE_INFINITY : firstTokenMs,
    idleMs,
    showMs: 1000 * services.config.router_settings.stream_keep_alive,
  })
}

function awaiting({ config }: PipelineServices, streamed: boolean) {
  const { stream_first_token_timeout, stream_idle_timeout } = config.router_settings
  return {
    firstTokenMs: streamed ? 1000 * stream_first_token_timeout : Number.POSITIVE_INFINITY,
    idleMs: streamed ? 1000 * stream_idle_timeout : Number.POSITIVE_INFINITY,
  }
}

/** Builds the request of an attempt, and starts recording the answer if another deployment could continue it. */
function attemptRequestOf(services: PipelineServices, call: Call, tried: Attempt): AttemptRequest {
  const { deployment } = tried
  const translator = translatorOf(deployment, call.endpoint.mode, call.endpoint.dialect)
  if (!translator) throw new TypeError(`deployment '${deployment.id}' was not filtered by what it takes`)
  const outgoing = withDefaults(call, deployment, translator.translates === true, tried)
  const continuable = continuationTargets(services, call, tried, undefined).length > 0
  return continuable ? { translator, outgoing, answerSoFar: newAnswerSoFar() } : { translator, outgoing }
}

/** Some servers drop the connection on requests that are too long, so a longer one shares the blame. */
const LONG_REQUEST_BYTES = 1024 * 1024

const sentBytes = ({ bytes, form }: Call) => (form ? (form.raw.length ?? form.raw.received) : bytes.byteLength)

/** Classifies anything thrown during an upstream request of `sentBytes` bytes. */
export function asFailure(error: unknown, sentBytes = 0): GatewayError {
  const ofForm = asFormFailure(error)
  if (ofForm) return ofForm
  if (error instanceof TransportError) {
    const blames = sentBytes < LONG_REQUEST_BYTES ? {} : ({ blames: 'perhaps' } as const)
    return new GatewayError('upstream_unreachable', 'The connection to the provider failed.', {
      ...blames,
      cause: error,
    })
  }
  if (error instanceof BodyTooLarge || error instanceof RangeError) {
    const message = "The provider's answer to this request is larger than the gateway holds: ask for less at once."
    return new GatewayError('answer_too_large', message, { cause: error })
  }
  return new GatewayError('upstream_malformed', "The provider's answer could not be read.", { cause: error })
}
