import { EVENTS_TYPE } from '../../lib/bytes/sse.ts'
import { asGatewayError, type GatewayError } from '../../lib/errors.ts'
import { describeError } from '../../lib/log.ts'
import type { Answer } from '../answer.ts'
import { abandon, type Committed, type OpenStream } from '../attempt/attempt.ts'
import { cachedWhole, cacheHeaders } from '../cache/in-answer.ts'
import type { Call } from '../call.ts'
import { type ClientStream, departure } from '../client.ts'
import { noteMade } from '../ids/made-ids.ts'
import { remember } from '../memory/remember.ts'
import { droppedFields } from '../plan/routing-fields.ts'
import type { PipelineServices } from '../services.ts'
import type { WrittenReply } from '../translate/written-reply.ts'
import { continuationOf } from './continue-elsewhere.ts'
import { deliver, isLong } from './deliver.ts'
import { headerSafe } from './header-safe.ts'
import { startKeepAlive } from './keep-alive.ts'
import { type Over, relay } from './relay.ts'
import { takenInTime } from './taken-in-time.ts'

/** Builds the answer of a committed call. */
export function answer(
  services: PipelineServices,
  call: Call,
  committed: Committed,
  over: Over,
): Answer | Promise<Answer> {
  if (committed.kind === 'whole') return answerWhole(call, committed.reply, over)
  const client = opened(call, committed.stream)
  call.client.defer(carried(services, call, committed.stream, client, over))
  return {
    status: 200,
    headers: { ...routeHeaders(call), ...EVENT_STREAM, 'content-type': committed.contentType },
    body: client.readable,
  }
}

function answerWhole(call: Call, reply: WrittenReply, over: Over) {
  const { contentType, usage, outputCharacters, made } = reply
  call.usage = usage
  call.outputCharacters = outputCharacters
  noteMade(call, made)
  const answered = cachedWhole(call, reply)
  const bytes = call.endpoint.written?.(answered) ?? answered
  call.recording?.whole(bytes, contentType)
  remember(call, bytes)
  const { signal } = call.client
  if (isLong(bytes) && !signal.aborted) {
    const long = withHeaders(call, contentType, deliver(call, bytes, over))
    long.headers['content-length'] = String(bytes.byteLength)
    return long
  }
  const settled = over(signal.aborted ? departure(signal) : undefined)
  return settled ? settled.then(() => withHeaders(call, contentType, bytes)) : withHeaders(call, contentType, bytes)
}

function withHeaders(call: Call, contentType: string, body: Answer['body']) {
  const headers = routeHeaders(call)
  headers['content-type'] = contentType
  return { status: 200, headers, body }
}

function opened(call: Call, stream: OpenStream): ClientStream {
  try {
    return call.client.openStream()
  } catch (error) {
    abandon(stream)
    throw error
  }
}

/** Relays a stream to its client and then ends the call, even if relaying throws. */
async function carried(
  services: PipelineServices,
  call: Call,
  stream: OpenStream,
  client: ClientStream,
  over: Over,
): Promise<void> {
  let failure: GatewayError | undefined
  try {
    failure = await relay(call, stream, client, over, continuationOf(services, call, stream, client))
  } catch (error) {
    services.log.error('internal', { requestId: call.requestId, error: describeError(error) })
    failure = asGatewayError(error)
    abandon(stream)
    client.abort()
  }
  await over(failure)
}

export const EVENT_STREAM = {
  'content-type': EVENTS_TYPE,
  'cache-control': 'no-cache',
  // Keeps proxies in front of the gateway from buffering the stream.
  'x-accel-buffering': 'no',
} as const

/** Begins a stream before its call has committed: keep-alive comments until the commit, then the stream. Failover
 *  continues unseen; a failure becomes an error event because the status is already sent. */
export function answerLater(
  services: PipelineServices,
  call: Call,
  committing: Promise<Committed>,
  over: Over,
): Answer {
  const client = call.client.openStream()
  const stopKeepAlive = startKeepAlive(client, services.config.router_settings.stream_keep_alive)
  const relayed = committing.finally(stopKeepAlive).then(
    async (committed) => {
      if (committed.kind === 'stream') await carried(services, call, committed.stream, client, over)
      else await over(undefined)
    },
    async (error) => {
      const failure = asGatewayError(error)
      // The client gets an error event; only this log tells the operator why.
      if (failure.failure === 'internal')
        services.log.error('internal', { requestId: call.requestId, error: describeError(error) })
      await over(failure)
      await takenInTime(call, client, client.write(call.endpoint.errorEvent(failure)))?.catch(() => {})
      await client.close().catch(() => {})
    },
  )
  call.client.defer(relayed)
  return { status: 200, headers: { ...routeHeaders(call), ...EVENT_STREAM }, body: client.readable }
}

/** Headers that tell how the call was routed. */
export function routeHeaders(call: Call): Record<string, string> {
  const { overheadMs, attempts, cache } = call
  const served = attempts.at(-1)
  const headers: Record<string, string> = { ...call.rateHeaders }
  headers['x-gateway-model-group'] = headerSafe(call.servedGroup)
  if (served) headers['x-gateway-deployment'] = headerSafe(served.deployment.id)
  headers['x-gateway-attempts'] = String(attempts.length)
  if (cache) Object.assign(headers, cacheHeaders(cache))
  if (call.prompt !== '') headers['x-gateway-prompt'] = call.prompt
  const dropped = served ? droppedFields(served, call.request) : []
  if (dropped.length > 0) headers['x-gateway-dropped'] = dropped.join(', ')
  if (served && overheadMs !== undefined) {
    // The gateway's time before the first upstream request, and the serving attempt's time so far.
    const gateway = overheadMs.toFixed(2)
    const upstream = ((served.endedAt ?? performance.now()) - served.startedAt).toFixed(2)
    headers['x-gateway-overhead-ms'] = gateway
    headers['server-timing'] = `gateway;dur=${gateway}, upstream;dur=${upstream}`
  }
  return headers
}
