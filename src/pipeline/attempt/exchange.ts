import { type Abort, type Aborter, newAbort, unlessAborted } from '../../lib/abort.ts'
import { maskedParts } from '../../lib/addresses/shown-address.ts'
import { GatewayError } from '../../lib/errors.ts'
import { secret } from '../../lib/secret.ts'
import { atMost } from '../../lib/timers/at-most.ts'
import type { Outgoing } from '../../providers/provider.ts'
import { TransportError, type UpstreamRequest, type UpstreamResponse } from '../../transport/transport.ts'
import { credentialsMasked, withoutSecrets } from '../../transport/without-secrets.ts'
import type { Attempt, Call } from '../call.ts'
import { departure, unsent } from '../client.ts'
import { asUpstreamFailure } from '../failures.ts'
import { lostId } from '../ids/lost-id.ts'
import { countingHops } from '../request/hops.ts'
import type { IncomingForm } from '../request/incoming-form.ts'
import { newParting, type Parting } from '../respond/parting.ts'
import type { PipelineServices } from '../services.ts'
import { refusedHints } from '../translate/refused-hints.ts'
import type { Translator } from '../translate/translator.ts'
import { unstreamed } from '../translate/whole-as-stream.ts'
import { askWithForm, completed, ofSlowUpload, watched } from './attempt-with-form.ts'
import { type Clocks, startAnswerClock, startClocks } from './clocks.ts'
import type { AttemptRequest } from './open-answer.ts'
import { requestOf, withTraceparent } from './upstream-request.ts'
import { upstreamWords } from './upstream-words.ts'

const ERROR_LIMIT_BYTES = 1024 * 1024
/** How long to wait for the body of an error. The status alone already decides that another deployment is asked. */
const ERROR_WAIT_MS = 2000

/** The exchange of one attempt with its upstream, and what may end it before its time: the clocks, the client, another
 *  attempt that won the hedge. A record for the functions of this file: closures would cost every call more. */
export interface UpstreamExchange {
  readonly services: PipelineServices
  readonly call: Call
  readonly tried: Attempt
  /** Aborts when the gateway ends the upstream request. */
  readonly ended: Aborter<GatewayError>
  readonly clocks: Clocks
  readonly parting: Parting
  /** The headers of the last request that was sent. */
  sent: UpstreamRequest['headers']
  /** Listens to the client's signal. */
  readonly left: () => void
}

/** Begins an exchange: from now on its clocks run. */
export function newExchange(
  services: PipelineServices,
  call: Call,
  tried: Attempt,
  { unparsed }: Translator,
  lostHedgeSignal?: Abort,
): UpstreamExchange {
  const { signal } = call.client
  const ended = newAbort<GatewayError>()
  const parting = newParting(signal, ended)
  // A shutdown ends the upstream at once; a client that left allows a grace period.
  const left = () => {
    const why = departure(signal)
    if (why.failure === 'client_closed') parting.left()
    else ended.abort(why)
  }
  lostHedgeSignal?.addEventListener('abort', () =>
    ended.abort(new GatewayError('client_closed', 'Another answered first.')),
  )
  const clocks = clocksOf(services, call, tried, unparsed === true, ended)
  if (call.form) clientsTurn(clocks)
  if (signal.aborted) left()
  else signal.addEventListener('abort', left, ONCE)
  return { services, call, tried, ended, clocks, parting, sent: NO_HEADERS, left }
}

const ONCE = { once: true }
const NO_HEADERS: UpstreamRequest['headers'] = {}

/** Stops listening to the client's signal and stops the timers. */
export function release({ call, clocks, parting, left }: UpstreamExchange): void {
  clocks.stop()
  parting.stop()
  call.client.signal.removeEventListener('abort', left)
}

/** Sends a request. Resolves when the upstream begins to respond. */
export function ask(exchange: UpstreamExchange, { translator, outgoing }: AttemptRequest): Promise<UpstreamResponse> {
  const { call, tried } = exchange
  if (!call.form) return askOnce(exchange, translator, outgoing)
  const once = (asked: Outgoing) => askOnce(exchange, translator, asked)
  return askWithForm(call, call.form, tried.deployment, once, outgoing)
}

function askOnce(exchange: UpstreamExchange, translator: Translator, outgoing: Outgoing): Promise<UpstreamResponse> {
  const { call, tried, ended } = exchange
  const streams = translator.stream ?? translator.wholeAsStream ?? translator.unparsed
  if (call.streamed && !streams) throw unstreamed()
  const request = requestOf(exchange, translator, outgoing)
  const strict = call.strict || tried.deployment.connection.parameters.strict
  if (strict && tried.dropped) throw refusedHints(tried.dropped)
  if (!(request instanceof Promise)) return send(exchange, request)
  // The request may depend on fields of the form that have not arrived.
  return (call.form ? unlessAborted(request, ended) : request).then((built) => send(exchange, built))
}

function send(exchange: UpstreamExchange, built: UpstreamRequest): Promise<UpstreamResponse> {
  const { services, call, tried, ended, clocks } = exchange
  if (ended.reason) throw ended.reason
  const request = withTraceparent(exchange, countingHops(built, call.hops))
  exchange.sent = request.headers
  call.overheadMs ??= performance.now() - call.arrivedAt - (call.cache?.waitedMs ?? 0)
  const transport = tried.deployment.provider.transport ?? services.transport
  tried.asked = true
  const { form } = call
  if (!form) return transport.send(request, ended)
  clocks.asked()
  const before = () => clientsTurn(clocks)
  const allSent = () => clocks.asked(awaiting(services, call, answerMsOf(tried), form.request?.stream === true))
  return transport.send(watched(request, { before, after: clocks.asked, allSent }), ended)
}

/** The failure of which a response tells. */
export async function refusalIn(
  exchange: UpstreamExchange,
  translator: Translator,
  { status, headers, body }: UpstreamResponse,
): Promise<GatewayError> {
  const { services, call, tried, ended } = exchange
  const explanation = body.bytes(ERROR_LIMIT_BYTES).catch(() => new Uint8Array())
  const bytes = (await atMost(ERROR_WAIT_MS, explanation))?.value ?? new Uint8Array()
  tried.upstreamWords = credentialsMasked(upstreamWords(bytes), credentialsOf(exchange))
  const failure = translator.failure(status, headers, bytes, services.clock.now())
  return ended.reason ?? lostId(call.bounds, failure, { status, bytes }) ?? failure
}

/** The request with all fields of its form. An answer may begin before the upload ends; the clocks and the client bound
 *  the wait for the rest. */
export async function uploaded(
  { call, tried, ended, clocks }: UpstreamExchange,
  form: IncomingForm,
): Promise<Outgoing> {
  clientsTurn(clocks)
  const whole = await unlessAborted(completed(call, form, tried.deployment), ended)
  clocks.received()
  return whole
}

/** Ends an exchange by an error. Returns the attempt's failure: why the gateway ended it, else the error. */
export function fail(exchange: UpstreamExchange, error: unknown): GatewayError {
  const { call, ended } = exchange
  release(exchange)
  const failure = ended.reason ?? ofSlowUpload(clean(exchange, asUpstreamFailure(error, sentBytes(call))), call)
  // The exact reason why the connection failed, such as an expired certificate.
  if (!ended.reason && error instanceof TransportError) exchange.tried.upstreamWords = error.message
  ended.abort(failure)
  return failure
}

/** The failure without the credentials that were sent to the provider. */
export function clean(exchange: UpstreamExchange, failure: GatewayError): GatewayError {
  return withoutSecrets(failure, credentialsOf(exchange))
}

/** What may be a credential among what was sent: providers quote the path of a request, too. */
function credentialsOf({ sent, tried }: UpstreamExchange): UpstreamRequest['headers'] {
  const parts = maskedParts(tried.deployment.connection.basePath)
  return parts.length === 0 ? sent : { ...sent, ...Object.fromEntries(parts.map((part) => [part, secret(part)])) }
}

const clientsTurn = (clocks: Clocks) => clocks.waiting(() => {}, unsent)

const sentBytes = ({ bytes, form }: Call) => (form ? (form.raw.length ?? form.raw.received) : bytes.byteLength)

function clocksOf(
  services: PipelineServices,
  call: Call,
  tried: Attempt,
  unparsed: boolean,
  ended: Aborter<GatewayError>,
): Clocks {
  const { deadline, arrivedAt, form } = call
  const answerMs = answerMsOf(tried)
  const ends = { timers: services.timers, deadline, callMs: deadline - arrivedAt, answerMs, ended }
  if (!call.streamed && !form && !unparsed) return startAnswerClock(ends)
  const { firstTokenMs, idleMs } = awaiting(services, call, answerMs, !form)
  return startClocks({
    ...ends,
    // Binary audio has no first token: only the attempt's timeout applies.
    firstTokenMs: unparsed ? Number.POSITIVE_INFINITY : firstTokenMs,
    idleMs,
    showMs: 1000 * services.config.router_settings.stream_keep_alive,
  })
}

const answerMsOf = ({ deployment, plan }: Attempt) => 1000 * (deployment.timeoutSeconds ?? plan.settings.timeoutSeconds)

function awaiting({ config }: PipelineServices, { endpoint }: Call, answerMs: number, streamed: boolean) {
  const { stream_first_token_timeout, stream_idle_timeout } = config.router_settings
  const { tokenless } = endpoint.mode
  const idleMs = 1000 * stream_idle_timeout
  return {
    firstTokenMs: streamed && !tokenless ? 1000 * stream_first_token_timeout : Number.POSITIVE_INFINITY,
    idleMs: streamed ? Math.max(idleMs, tokenless ? answerMs : 0) : Number.POSITIVE_INFINITY,
  }
}
