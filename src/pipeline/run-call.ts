import { asGatewayError, type GatewayError, withHeaders } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import type { ModelRequest } from '../modes/mode.ts'
import type { Admitted } from '../stores/kv/shared-store.ts'
import { admit } from './admit.ts'
import type { Committed } from './attempt.ts'
import { type Answer, type Call, type CallInput, newAttemptId } from './call.ts'
import { failover } from './failover.ts'
import { finish } from './finish.ts'
import { keepLeases } from './keep-leases.ts'
import { parse } from './parse.ts'
import type { PipelineServices } from './pipeline.ts'
import { type Plan, plan } from './plan.ts'
import { relay } from './relay.ts'

/** One model call, from its bytes to its answer. Once it has begun it reports itself, however it ends. */
export async function runCall(services: PipelineServices, input: CallInput): Promise<Answer> {
  const id = newId('call')
  const attemptId = newAttemptId()
  const { request, chosen, admitted } = await allow(services, input, { id, attemptId })

  const call = begin(services, input, id, request, chosen)
  input.begun()
  // Handed to the runtime before the upstream is asked: if the client leaves, this is all that still runs.
  const over = Promise.withResolvers<GatewayError | undefined>()
  const letGo = keepLeases(services, call)
  call.client.defer(
    over.promise.then((failure) => {
      letGo()
      return finish(services, call, failure)
    }),
  )
  try {
    const committed = await failover(services, call, { plan: chosen, admitted, attemptId })
    return answer(call, committed, over.resolve)
  } catch (error) {
    const failure = asGatewayError(error)
    over.resolve(failure)
    throw withHeaders(failure, routeHeaders(call))
  }
}

/** Everything that can refuse a call before it begins. Limits are counted for every call, also one that is no valid
 *  request or names no model: they come before routing. */
async function allow(
  services: PipelineServices,
  input: CallInput,
  ids: { readonly id: string; readonly attemptId: string },
): Promise<{ request: ModelRequest; chosen: Plan; admitted: Admitted }> {
  const parsed = parse(input)
  const planned = parsed.error ? parsed : plan(services, input.endpoint, parsed.request)
  const admitted = await admit(services, input, { ...ids, order: planned.error ? [] : planned.plan.order() })
  if (parsed.error) throw parsed.error
  if (planned.error) throw planned.error
  return { request: parsed.request, chosen: planned.plan, admitted }
}

function begin(services: PipelineServices, input: CallInput, id: string, request: ModelRequest, { group }: Plan): Call {
  return {
    ...input,
    id,
    request,
    group,
    streamed: request.stream === true,
    deadline: input.arrivedAt + 1000 * services.config.router_settings.timeout,
    attempts: [],
    returned: [],
    overheadMs: undefined,
    usage: undefined,
    outputCharacters: 0,
    malformedEvents: 0,
  }
}

function answer(call: Call, committed: Committed, over: (failure: GatewayError | undefined) => void): Answer {
  if (committed.kind === 'whole') {
    const { reply } = committed
    call.usage = reply.usage
    call.outputCharacters = reply.outputCharacters
    over(undefined)
    return { status: 200, headers: { ...routeHeaders(call), 'content-type': reply.contentType }, body: reply.bytes }
  }
  const client = call.client.openStream()
  const relayed = relay(call, committed.stream, client)
  call.client.defer(relayed.then(over))
  return {
    status: 200,
    headers: {
      ...routeHeaders(call),
      'content-type': committed.contentType,
      'cache-control': 'no-cache',
      // Proxies in front of the gateway must not gather a stream into a burst.
      'x-accel-buffering': 'no',
    },
    body: client.readable,
  }
}

/** Where the call went, for whoever looks at its answer. */
function routeHeaders(call: Call): Record<string, string> {
  const served = call.attempts.at(-1)
  return {
    'x-gateway-model-group': headerSafe(served?.deployment.modelName ?? call.group.name),
    ...(served ? { 'x-gateway-deployment': headerSafe(served.deployment.id) } : {}),
    'x-gateway-attempts': String(call.attempts.length),
    ...(call.overheadMs === undefined ? {} : { 'x-gateway-overhead-ms': call.overheadMs.toFixed(2) }),
  }
}

/** Names are the operator's and may hold anything; a header holds printable ASCII. */
function headerSafe(name: string): string {
  return /^[\x20-\x7e]*$/.test(name) ? name : encodeURIComponent(name)
}
