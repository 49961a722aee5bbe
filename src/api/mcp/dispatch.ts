import { describeError } from '../../lib/log.ts'
import { admitRequest } from '../../pipeline/admit/admit-request.ts'
import { asFailure } from '../failures.ts'
import { type CallSlot, slotFor } from './call-slot.ts'
import type { ToolCall } from './call-tool.ts'
import { tellOthers } from './cancelled-elsewhere.ts'
import {
  asRpcFailure,
  failureOf,
  isId,
  RpcFailure,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
  resultOf,
} from './json-rpc.ts'
import { methodOf } from './methods.ts'
import { runningName } from './running-tools.ts'
import { wholeResult } from './stateless.ts'

/** The HTTP request of a message. */
export interface Asking extends Omit<ToolCall, 'id'> {
  /** The message tells its version itself. */
  readonly isStateless?: boolean
}

/** The answer to a request. Never rejects. */
export async function answerTo(asking: Asking, { id, method, params }: RpcRequest): Promise<object> {
  const { isStateless = false } = asking
  try {
    const result = await methodOf(method, isStateless)({ ...asking, id }, params)
    return resultOf(id, isStateless ? wholeResult(result) : result)
  } catch (thrown) {
    return failureOf(id, failureIn(asking, thrown), asking.scope.requestId)
  }
}

/** The answers to a list of messages: to its requests, and to what is no message. */
export async function answersTo(asking: Asking, messages: readonly RpcMessage[]): Promise<object[]> {
  const [first, ...others] = messages.filter((message) => message.kind === 'request')
  for (const message of messages) if (message.kind === 'notification') takeNotification(asking, message)
  const answers = await Promise.all([
    ...(first ? [answerAmongOthers(asking, first)] : []),
    ...others.map((request) => answerCounted(asking, request)),
  ])
  const invalid = messages.filter((message) => message.kind === 'invalid')
  return [...answers, ...invalid.map(({ id, failure }) => failureOf(id, failure, asking.scope.requestId))]
}

/** The limits count requests. The HTTP request has counted as one of them. */
async function answerCounted(asking: Asking, request: RpcRequest): Promise<object> {
  const { services, caller, address, requestId } = asking.scope
  try {
    await admitRequest(services, { caller: caller(), address, requestId, tokens: 0 })
  } catch (thrown) {
    return failureOf(request.id, failureIn(asking, thrown), requestId)
  }
  return answerAmongOthers(asking, request)
}

async function answerAmongOthers(asking: Asking, request: RpcRequest): Promise<object> {
  if (request.method !== 'initialize') return answerInSlot(asking, request)
  const alone = new RpcFailure('invalidRequest', 'initialize: must be sent alone', { param: 'method' })
  return failureOf(request.id, alone, asking.scope.requestId)
}

async function answerInSlot(asking: Asking, request: RpcRequest): Promise<object> {
  let slot: CallSlot
  try {
    slot = await slotFor(asking.scope, request)
  } catch (thrown) {
    return failureOf(request.id, failureIn(asking, thrown), asking.scope.requestId)
  }
  return slot.during(answerTo(asking, request))
}

/** Handles a notification, which has no answer. Only cancellations matter to a gateway. */
export function takeNotification({ scope, session }: Asking, { method, params }: RpcNotification): void {
  const { requestId: id } = params
  if (method !== 'notifications/cancelled' || !isId(id)) return
  const name = runningName(scope.caller(), session, id)
  if (name !== undefined && !scope.services.runningTools.cancel(name)) tellOthers(scope, name)
}

function failureIn({ scope }: Asking, thrown: unknown): RpcFailure {
  if (thrown instanceof RpcFailure) return thrown
  const { services, requestId } = scope
  const error = asFailure(thrown)
  if (error.failure === 'internal') services.log.error('internal', { requestId, error: describeError(error.cause) })
  return asRpcFailure(error)
}
