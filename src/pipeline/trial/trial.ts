import { withoutMark } from '../../lib/bytes/without-mark.ts'
import { GatewayError } from '../../lib/errors.ts'
import type { Footprint } from '../../lib/footprints.ts'
import { asText, parseRecord } from '../../lib/json/lenient.ts'
import { costNano } from '../../modes/price/cost.ts'
import { type Usage, usageOf } from '../../modes/usage.ts'
import type { Outgoing, StreamStep } from '../../providers/provider.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { Transport, UpstreamResponse } from '../../transport/transport.ts'
import { withoutSecrets } from '../../transport/without-secrets.ts'
import { isDocument } from '../attempt/open-answer.ts'
import type { Endpoint } from '../endpoint.ts'
import { asUpstreamFailure } from '../failures.ts'
import type { PipelineServices } from '../services.ts'
import { type Translator, translatorOf } from '../translate/translator.ts'
import { unstreamed } from '../translate/whole-as-stream.ts'
import { adviceFor, wordsOf } from './advice.ts'
import { asForm, asOutgoing, trialRequest } from './trial-request.ts'
import { type Seen, watchedTransport } from './watched-transport.ts'

const ANSWER_LIMIT_BYTES = 32 * 1024 * 1024
const decoder = new TextDecoder()

/** The result of asking a deployment once. */
export interface Trial {
  readonly streamed: boolean
  /** Where the last request went, without its query; null if none was sent. */
  readonly address: string | null
  readonly status: number | null
  readonly firstTokenMs: number | null
  readonly totalMs: number
  /** The model that the provider says it is. */
  readonly model: string | null
  /** undefined where the provider reported none, and the request does not tell. */
  readonly usage: Usage | undefined
  /** undefined for an unknown price. */
  readonly costNano: number | undefined
  readonly failure: TrialFailure | undefined
}

export interface TrialFailure {
  readonly failure: GatewayError
  /** The provider's own words, without credentials. */
  readonly words: string | undefined
  readonly advice: string
}

export interface TrialOptions {
  readonly endpoint: Endpoint
  /** As a stream, where the provider streams this kind of request. */
  readonly streamed: boolean
  /** Fields of the request, beside those of the smallest one. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly footprint: Footprint
}

interface Heard {
  firstTokenMs: number | null
  model: string | null
  usage: Usage | undefined
}

/** Asks a deployment once, through the same adapter and transport as a call: nothing is counted, logged or cooled. A
 *  failed answer is a result; rejects only for a mode that the deployment does not serve. */
export async function tryDeployment(
  services: Pick<PipelineServices, 'transport' | 'clock'>,
  deployment: Deployment,
  options: TrialOptions,
): Promise<Trial> {
  const { endpoint, signal } = options
  const { mode, dialect } = endpoint
  const translator = translatorOf(deployment, mode, dialect)
  if (!translator) {
    const message = `Provider '${deployment.provider.kind}' serves no ${mode.name} requests with this model.`
    throw new GatewayError('invalid_request', message, { param: 'model_info.mode' })
  }
  const late = AbortSignal.timeout(Math.ceil(options.timeoutMs))
  const until = AbortSignal.any([signal, late])
  const { seen, transport } = watchedTransport(deployment.provider.transport ?? services.transport)
  const begunAt = performance.now()
  const heard: Heard = { firstTokenMs: null, model: null, usage: undefined }
  const streams = translator.stream !== undefined && !translator.unparsed
  const streamed = options.streamed && streams && mode.body === 'json'
  let failure: TrialFailure | undefined
  try {
    const request = trialRequest(deployment, mode, options.fields)
    const asked =
      mode.body === 'json'
        ? { outgoing: asOutgoing(request, streamed), form: undefined }
        : await asForm(request, mode, options.footprint)
    const response = await send(deployment, translator, asked.outgoing, { transport, until, now: services.clock.now() })
    const since = () => performance.now() - begunAt
    if (translator.unparsed) await hearSound(response, heard, since)
    else if (streamed) await hearEvents(translator, asked.outgoing, response, heard, since)
    else await hearWhole(translator, asked.outgoing, response, heard)
    const seconds = asked.form?.seconds
    heard.usage = filled(heard.usage, {
      ...mode.measure(asked.outgoing.body),
      ...(seconds === undefined ? {} : { audioSeconds: seconds }),
    })
  } catch (error) {
    const timeout = new GatewayError('upstream_timeout', `No whole answer came within ${options.timeoutMs / 1000} s.`)
    failure = failed(deployment, late.aborted ? timeout : asUpstreamFailure(error), seen)
  }
  const { usage } = heard
  return {
    streamed,
    address: seen.address,
    status: seen.status,
    ...heard,
    totalMs: performance.now() - begunAt,
    costNano: usage && costNano(mode, deployment.info, usage),
    failure,
  }
}

async function send(
  { provider, connection }: Deployment,
  translator: Translator,
  outgoing: Outgoing,
  { transport, until, now }: { readonly transport: Transport; readonly until: AbortSignal; readonly now: number },
): Promise<UpstreamResponse> {
  const request = await translator.request(outgoing, connection)
  const means = { transport, signal: until, now }
  const authorized = provider.authorize ? await provider.authorize(request, connection, means) : request
  const response = await transport.send(authorized, until)
  const { status, headers, body } = response
  if (status >= 200 && status <= 299) return response
  throw translator.failure(status, headers, await body.bytes(ANSWER_LIMIT_BYTES), now)
}

async function hearWhole(
  translator: Translator,
  outgoing: Outgoing,
  { body, headers }: UpstreamResponse,
  heard: Heard,
): Promise<void> {
  const reply = translator.reply(withoutMark(await body.bytes(ANSWER_LIMIT_BYTES)), headers, outgoing)
  heard.usage = reply.usage
  heard.model = asText(parseRecord(reply.bytes)?.model) || null
}

async function hearEvents(
  translator: Translator,
  outgoing: Outgoing,
  { body, headers }: UpstreamResponse,
  heard: Heard,
  since: () => number,
): Promise<void> {
  if (!/^text\/event-stream\b/i.test(headers['content-type'] ?? '') && !translator.streamType) {
    const bytes = withoutMark(await body.bytes(ANSWER_LIMIT_BYTES))
    if (!translator.wholeAsStream) throw unstreamed()
    take(translator.wholeAsStream(bytes, headers, outgoing), heard, since)
    return
  }
  const reader = translator.stream?.(outgoing, headers)
  if (!reader) throw unstreamed()
  let finished = false
  for (let piece = await body.read(); piece !== undefined; piece = await body.read()) {
    const steps = reader.push(piece)
    take(steps, heard, since)
    finished ||= steps.some((step) => step.finished)
    if (steps.some((step) => step.done)) break
  }
  body.cancel()
  if (!finished) throw new GatewayError('upstream_truncated', "The provider's stream ended before its answer did.")
}

const MODEL = /"model":\s*"([^"\\]+)"/

function take(steps: readonly StreamStep[], heard: Heard, since: () => number): void {
  for (const { failure, out, characters = 0, commits, usage } of steps) {
    if (failure) throw failure
    if (commits || characters > 0) heard.firstTokenMs ??= since()
    if (usage) heard.usage = usage
    if (heard.model === null && out) {
      heard.model = MODEL.exec(decoder.decode(out))?.[1] ?? null
    }
  }
}

async function hearSound({ body, headers }: UpstreamResponse, heard: Heard, since: () => number): Promise<void> {
  let length = 0
  for (let piece = await body.read(); piece !== undefined; piece = await body.read()) {
    heard.firstTokenMs ??= since()
    length += piece.byteLength
    if (length > ANSWER_LIMIT_BYTES) body.cancel()
  }
  if (isDocument(headers))
    throw new GatewayError('upstream_malformed', "The provider's answer is a document, not a sound.")
  if (length === 0) throw new GatewayError('unusable_answer', "The provider's answer is empty.")
}

/** The reported usage, and what the request itself determines. */
function filled(reported: Usage | undefined, measured: Partial<Usage>): Usage | undefined {
  if (!reported) return Object.keys(measured).length === 0 ? undefined : usageOf(measured)
  const missing = Object.entries(measured).filter(([kind]) => !reported[kind as keyof Usage])
  return { ...reported, ...Object.fromEntries(missing) }
}

/** A failure with what the provider said, without the credentials of the deployment. */
export function failed({ connection }: Pick<Deployment, 'connection'>, thrown: GatewayError, seen: Seen): TrialFailure {
  const { headers, parameters } = connection
  const { api_key, aws_secret_access_key, aws_session_token } = parameters
  const secrets = Object.entries({ api_key, aws_secret_access_key, aws_session_token })
  const credentials = {
    ...headers,
    ...seen.headers,
    ...Object.fromEntries(secrets.flatMap(([name, value]) => (value ? [[`: ${name}`, value]] : []))),
  }
  const failure = withoutSecrets(thrown, credentials)
  const said = wordsOf(seen) ?? causeOf(thrown)
  const words = said && withoutSecrets(new GatewayError('internal', said), credentials).message
  return { failure, words, advice: adviceFor(failure, seen) }
}

/** What the transport says of a connection that failed: an address and the code of the system, no content. */
function causeOf({ failure, cause }: GatewayError): string | undefined {
  return failure === 'upstream_unreachable' && cause instanceof Error ? cause.message : undefined
}
