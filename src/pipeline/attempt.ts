import { GatewayError } from '../lib/errors.ts'
import { frameSplitter } from '../lib/sse.ts'
import type { Adapter, Reply, StreamReader, StreamStep } from '../providers/provider.ts'
import { BodyTooLarge, TransportError, type UpstreamBody, type UpstreamResponse } from '../transport/transport.ts'
import type { Attempt, Call } from './call.ts'
import { type Clocks, startClocks } from './clocks.ts'
import type { PipelineServices } from './pipeline.ts'

const REPLY_LIMIT_BYTES = 64 * 1024 * 1024
const ERROR_LIMIT_BYTES = 1024 * 1024

/** What an attempt that may be shown to the client has reached. */
export type Committed =
  | { readonly kind: 'whole'; readonly reply: Reply; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'stream'; readonly stream: OpenStream; readonly headers: Readonly<Record<string, string>> }

/** An upstream stream whose first content has been seen. */
export interface OpenStream {
  readonly body: UpstreamBody
  readonly reader: StreamReader
  readonly splitter: ReturnType<typeof frameSplitter>
  /** What was read up to the commit, still to be written to the client. */
  readonly backlog: StreamStep[]
  readonly clocks: Clocks
  /** Why the upstream was ended from our side: a clock, or the client. */
  reason(): GatewayError | undefined
  /** Lets go of the client's signal and the timer. */
  release(): void
  onSilence(show: () => void): void
}

/** Asks one deployment. Resolves at the commit point: a whole answer, or a stream's first content. Until then every
 *  trouble is a GatewayError and nothing of the attempt has been seen by the client. */
export async function attempt(services: PipelineServices, call: Call, tried: Attempt): Promise<Committed> {
  const { deployment } = tried
  const adapter = deployment.adapter(call.mode.name)
  if (!adapter) throw new TypeError(`deployment '${deployment.id}' was not filtered by mode`)
  const { client } = call
  const controller = new AbortController()
  let reason: GatewayError | undefined
  let silence: (() => void) | undefined

  const end = (failure: GatewayError) => {
    reason ??= failure
    controller.abort(failure)
  }
  const left = () => end(new GatewayError('client_closed', 'The client closed the connection.'))
  const settings = services.config.router_settings
  const clocks = startClocks({
    deadline: Math.min(call.deadline, tried.startedAt + 1000 * (deployment.timeoutSeconds ?? Number.POSITIVE_INFINITY)),
    firstTokenMs: call.streamed ? 1000 * settings.stream_first_token_timeout : Number.POSITIVE_INFINITY,
    idleMs: call.streamed ? 1000 * settings.stream_idle_timeout : Number.POSITIVE_INFINITY,
    expired: end,
    silent: () => silence?.(),
  })
  const release = () => {
    clocks.stop()
    client.signal.removeEventListener('abort', left)
  }
  if (client.signal.aborted) left()
  else client.signal.addEventListener('abort', left, { once: true })

  try {
    const outgoing = { body: call.request, bytes: call.bytes, streamed: call.streamed }
    const request = await adapter.request(outgoing, deployment.connection)
    call.overheadMs ??= performance.now() - call.arrivedAt
    const transport = deployment.provider.transport ?? services.transport
    const response = await transport.send(request, controller.signal)
    clocks.heard()
    if (response.status < 200 || response.status > 299) {
      const bytes = await response.body.bytes(ERROR_LIMIT_BYTES).catch(() => new Uint8Array())
      if (reason) throw reason
      throw adapter.failure(response.status, response.headers, bytes)
    }
    if (!call.streamed) {
      const reply = adapter.reply(await response.body.bytes(REPLY_LIMIT_BYTES), response.headers)
      tried.firstTokenAt = performance.now()
      release()
      return { kind: 'whole', reply, headers: response.headers }
    }
    const stream = await openStream(call, tried, adapter, response, clocks)
    return {
      kind: 'stream',
      headers: response.headers,
      stream: { ...stream, clocks, release, reason: () => reason, onSilence: (show) => (silence = show) },
    }
  } catch (error) {
    release()
    const failure = reason ?? asFailure(error)
    if (!controller.signal.aborted) controller.abort(failure)
    throw failure
  }
}

/** Reads up to the first content. */
async function openStream(
  call: Call,
  tried: Attempt,
  adapter: Adapter,
  response: UpstreamResponse,
  clocks: Clocks,
): Promise<Pick<OpenStream, 'body' | 'reader' | 'splitter' | 'backlog'>> {
  const { body, headers } = response
  if (!adapter.stream) throw new GatewayError('not_supported', 'This model does not stream.', { param: 'stream' })
  if (!/^text\/event-stream\b/i.test(headers['content-type'] ?? '')) {
    // A provider that answers a stream with a document usually means to say what went wrong.
    adapter.reply(await body.bytes(ERROR_LIMIT_BYTES), headers)
    throw new GatewayError('upstream_malformed', 'The provider answered a streamed request without a stream.')
  }
  const reader = adapter.stream({ body: call.request, bytes: call.bytes, streamed: true })
  const splitter = frameSplitter()
  const backlog: StreamStep[] = []
  for (;;) {
    const piece = await body.read()
    if (piece === undefined) {
      throw new GatewayError('upstream_truncated', "The provider's stream ended before it began to answer.")
    }
    clocks.heard()
    for (const frame of splitter.push(piece)) backlog.push(reader.read(frame))
    for (const step of backlog) if (step.failure) throw step.failure
    if (backlog.some((step) => step.commits || (step.characters ?? 0) > 0)) {
      tried.firstTokenAt = performance.now()
      clocks.committed()
      return { body, reader, splitter, backlog }
    }
    if (backlog.some((step) => step.done)) {
      throw new GatewayError('upstream_truncated', "The provider's stream ended without an answer.")
    }
  }
}

/** Anything thrown on the way to an upstream, by its proper name. */
export function asFailure(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error
  if (error instanceof TransportError) {
    return new GatewayError('upstream_unreachable', 'The connection to the provider failed.', { cause: error })
  }
  if (error instanceof BodyTooLarge || error instanceof RangeError) {
    return new GatewayError('upstream_malformed', "The provider's answer is too large.", { cause: error })
  }
  return new GatewayError('upstream_malformed', "The provider's answer could not be read.", { cause: error })
}
