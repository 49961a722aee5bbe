import { asGatewayError, type GatewayError } from '../../lib/errors.ts'
import { describeError } from '../../lib/log.ts'
import type { Answer } from '../answer.ts'
import type { Committed, OpenStream } from '../attempt/attempt.ts'
import type { Call } from '../call.ts'
import { type ClientStream, departure } from '../client.ts'
import { noteMade } from '../ids/made-ids.ts'
import { routingFieldsIn } from '../plan/routing-fields.ts'
import type { PipelineServices } from '../services.ts'
import { continuationOf } from './continue-elsewhere.ts'
import { deliver, isLong } from './deliver.ts'
import { KEEP_ALIVE } from './keep-alive.ts'
import { type Over, relay, takenInTime } from './relay.ts'

/** What a call that has committed answers. */
export async function answer(
  services: PipelineServices,
  call: Call,
  committed: Committed,
  over: Over,
): Promise<Answer> {
  if (committed.kind === 'whole') {
    const { reply } = committed
    call.usage = reply.usage
    call.outputCharacters = reply.outputCharacters
    noteMade(call, reply.made)
    const { signal } = call.client
    const long = isLong(reply.bytes) && !signal.aborted
    if (!long) await over(signal.aborted ? departure(signal) : undefined)
    const headers = routeHeaders(call)
    headers['content-type'] = reply.contentType
    if (long) {
      headers['content-length'] = String(reply.bytes.byteLength)
      return { status: 200, headers, body: deliver(call, reply.bytes, over) }
    }
    return { status: 200, headers, body: reply.bytes }
  }
  const client = opened(call, committed.stream)
  call.client.defer(carried(services, call, committed.stream, client, over))
  return {
    status: 200,
    headers: { ...routeHeaders(call), ...EVENT_STREAM, 'content-type': committed.contentType },
    body: client.readable,
  }
}

function opened(call: Call, { release, body }: OpenStream): ClientStream {
  try {
    return call.client.openStream()
  } catch (error) {
    release()
    body.cancel()
    throw error
  }
}

/** Carries an answer to its client and ends the call, whatever becomes of it on the way. */
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
    stream.release()
    stream.body.cancel()
    client.abort()
  }
  await over(failure)
}

const EVENT_STREAM = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  // Proxies in front of the gateway must not gather a stream into a burst.
  'x-accel-buffering': 'no',
} as const

/** Begins the answer before anything of it is known: comments until the call commits, then the stream as ever. Failover
 *  goes on unseen; what cannot be told by a status any more is told by an error event. */
export function answerLater(
  services: PipelineServices,
  call: Call,
  committing: Promise<Committed>,
  over: Over,
): Answer {
  const client = call.client.openStream()
  const comment = () => client.write(KEEP_ALIVE)?.catch(() => {})
  void comment()
  const comments = setInterval(comment, 1000 * services.config.router_settings.stream_keep_alive)
  const relayed = committing
    .finally(() => clearInterval(comments))
    .then(
      async (committed) => {
        if (committed.kind === 'stream') await carried(services, call, committed.stream, client, over)
        else await over(undefined)
      },
      async (error) => {
        const failure = asGatewayError(error)
        // Its client is told by an event, and nobody else would tell the operator why.
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

/** Where the call went, for whoever looks at its answer. */
export function routeHeaders(call: Call): Record<string, string> {
  const { overheadMs, attempts } = call
  const served = attempts.at(-1)
  const headers: Record<string, string> = { ...call.rateHeaders }
  headers['x-gateway-model-group'] = headerSafe(call.servedGroup)
  if (served) headers['x-gateway-deployment'] = headerSafe(served.deployment.id)
  headers['x-gateway-attempts'] = String(attempts.length)
  const dropped = served ? routingFieldsIn(served.deployment, call.request) : []
  if (dropped.length > 0) headers['x-gateway-dropped'] = dropped.join(', ')
  if (served && overheadMs !== undefined) {
    // How long the gateway needed before it asked anybody, and how long whoever served has been asked by now.
    const gateway = overheadMs.toFixed(2)
    const upstream = ((served.endedAt ?? performance.now()) - served.startedAt).toFixed(2)
    headers['x-gateway-overhead-ms'] = gateway
    headers['server-timing'] = `gateway;dur=${gateway}, upstream;dur=${upstream}`
  }
  return headers
}

/** Names are the operator's and may hold anything; a header holds printable ASCII. */
function headerSafe(name: string): string {
  return /^[\x20-\x7e]*$/.test(name) ? name : encodeURIComponent(name)
}
