import { atMost } from '../lib/at-most.ts'
import { asGatewayError, type GatewayError, withHeaders } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { type Allowed, allow } from './allow.ts'
import { answer, answerLater, routeHeaders } from './answer.ts'
import type { Committed } from './attempt.ts'
import { type Answer, type Call, type CallInput, newAttemptId } from './call.ts'
import { explained } from './explain.ts'
import { failover } from './failover.ts'
import { finish } from './finish.ts'
import { crowds } from './holds.ts'
import { keepLeases } from './keep-leases.ts'
import type { PipelineServices } from './pipeline.ts'

/** How long an answer waits for a store that does not take what its call held. */
const CROWDING_MS = 300

/** One model call, from its bytes to its answer. Once it has begun it reports itself, however it ends. */
export async function runCall(services: PipelineServices, input: CallInput): Promise<Answer> {
  const id = newId('call')
  const attemptId = newAttemptId()
  const allowed = await allow(services, input, { callId: id, attemptId }).catch((error) => {
    input.form?.raw.close()
    throw error
  })

  const call = begin(input, id, allowed)
  input.begun()
  // Handed to the runtime before the upstream is asked: if the client leaves, this is all that still runs.
  const over = Promise.withResolvers<GatewayError | undefined>()
  const letGo = keepLeases(services, call)
  const finished = over.promise.then((failure) => {
    letGo()
    call.form?.raw.close()
    return finish(services, call, failure)
  })
  call.client.defer(finished)
  // Whoever has an answer may call again at once, and must not be refused for what the answered call still holds.
  const end = async (failure: GatewayError | undefined) => {
    over.resolve(failure)
    if (crowds(call)) await atMost(CROWDING_MS, finished)
  }
  const committing = failover(services, call, { plan: allowed.plan, admitted: allowed.admitted, attemptId })
  try {
    const committed = await inTime(committing, call, services)
    if (committed === 'silent') return answerLater(services, call, committing, end)
    const why = await explained(services, call)
    const answered = await answer(services, call, committed, end)
    return { ...answered, headers: { ...answered.headers, ...why } }
  } catch (error) {
    const failure = asGatewayError(error)
    await end(failure)
    throw withHeaders(failure, { ...routeHeaders(call), ...(await explained(services, call)) })
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

function begin(input: CallInput, id: string, allowed: Allowed): Call {
  const { caller, kept, request, plan, rateHeaders, slots, holds } = allowed
  return {
    ...input,
    caller,
    kept,
    id,
    request,
    group: plan.group,
    servedGroup: plan.group.name,
    rateHeaders,
    slots,
    holds: [...holds],
    streamed: request.stream === true,
    deadline: input.arrivedAt + 1000 * plan.settings.timeoutSeconds,
    plans: [],
    attempts: [],
    hedged: false,
    returned: [],
    overheadMs: undefined,
    usage: undefined,
    outputCharacters: 0,
    malformedEvents: 0,
  }
}
