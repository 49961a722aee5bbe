import { asGatewayError, type GatewayError, withHeaders } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import type { ModelRequest } from '../modes/mode.ts'
import type { Admitted } from '../stores/kv/shared-store.ts'
import { admit } from './admit.ts'
import { answer, answerLater, routeHeaders } from './answer.ts'
import type { Committed } from './attempt.ts'
import { type Answer, type Call, type CallInput, newAttemptId } from './call.ts'
import { failover } from './failover.ts'
import { finish } from './finish.ts'
import { keepLeases } from './keep-leases.ts'
import { parse } from './parse.ts'
import type { PipelineServices } from './pipeline.ts'
import { type Plan, plan } from './plan.ts'

/** One model call, from its bytes to its answer. Once it has begun it reports itself, however it ends. */
export async function runCall(services: PipelineServices, input: CallInput): Promise<Answer> {
  const id = newId('call')
  const attemptId = newAttemptId()
  const { request, chosen, admitted } = await allow(services, input, { id, attemptId })

  const call = begin(input, id, request, chosen)
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
  const committing = failover(services, call, { plan: chosen, admitted, attemptId })
  try {
    const committed = await inTime(committing, call, services)
    if (committed === 'silent') return answerLater(services, call, committing, over.resolve)
    return answer(services, call, committed, over.resolve)
  } catch (error) {
    const failure = asGatewayError(error)
    over.resolve(failure)
    throw withHeaders(failure, routeHeaders(call))
  }
}

/** The commit of a call, or, for a stream, that it has not come while a client can be left without a word. */
async function inTime(
  committing: Promise<Committed>,
  call: Call,
  { config }: PipelineServices,
): Promise<Committed | 'silent'> {
  if (!call.streamed || !call.endpoint.dialect) return committing
  let timer: ReturnType<typeof setTimeout> | undefined
  const silent = new Promise<'silent'>((resolve) => {
    timer = setTimeout(resolve, 1000 * config.router_settings.stream_keep_alive, 'silent')
  })
  try {
    return await Promise.race([committing, silent])
  } finally {
    clearTimeout(timer)
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
  const planned = parsed.error ? parsed : plan(services, input.endpoint, parsed.request, input.caller)
  const admitted = await admit(services, input, { ...ids, order: planned.error ? [] : planned.plan.order() })
  if (parsed.error) throw parsed.error
  if (planned.error) throw planned.error
  return { request: parsed.request, chosen: planned.plan, admitted }
}

function begin(input: CallInput, id: string, request: ModelRequest, { group, settings }: Plan): Call {
  return {
    ...input,
    id,
    request,
    group,
    streamed: request.stream === true,
    deadline: input.arrivedAt + 1000 * settings.timeoutSeconds,
    attempts: [],
    hedged: false,
    returned: [],
    overheadMs: undefined,
    usage: undefined,
    outputCharacters: 0,
    malformedEvents: 0,
  }
}
