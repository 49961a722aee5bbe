import { GatewayError } from '../lib/errors.ts'
import { describeError } from '../lib/log.ts'
import type { ModelRequest } from '../modes/mode.ts'
import type { Deployment } from '../routing/deployment.ts'
import { keptAnswerKey, LIFETIME_MS } from '../stores/kv/keys.ts'
import type { Call, CallInput } from './call.ts'
import { tenantOf } from './caller.ts'
import type { PipelineServices } from './pipeline.ts'

/** The answer that a request goes on from, and the only deployment that knows it. */
export interface Kept {
  /** The field that names it. */
  readonly param: string
  /** undefined where this tenant has no such answer. */
  readonly deployment: string | undefined
}

/** No provider's ids are longer; a store that is asked for megabytes would seem to be down. */
const LONGEST_ID = 512

/** Looks up who keeps the answer that a request goes on from; undefined where it goes on from none. */
export async function keptFor(
  { store }: PipelineServices,
  { caller, endpoint }: Pick<CallInput, 'caller' | 'endpoint'>,
  request: ModelRequest,
): Promise<Kept | undefined> {
  const param = endpoint.dialect?.goesOnFrom
  const id = param === undefined ? undefined : request[param]
  if (param === undefined || typeof id !== 'string') return undefined
  const known = id.length <= LONGEST_ID
  return { param, deployment: known ? await store.get(keptAnswerKey(tenantOf(caller), id)) : undefined }
}

/** Remembers who keeps an answer, before its client can ask to go on from it. An answer that cannot be gone on from is
 *  still an answer: never rejects. */
export async function keepAnswer(
  { store, log }: PipelineServices,
  { caller, request, id: callId }: Call,
  { id: deployment }: Deployment,
  answerId: string | undefined,
): Promise<void> {
  if (answerId === undefined || answerId.length > LONGEST_ID || request.store === false) return
  try {
    await store.put(keptAnswerKey(tenantOf(caller), answerId), deployment, LIFETIME_MS.keptAnswer / 1000)
  } catch (error) {
    log.warn('answer.not_kept', { callId, error: describeError(error) })
  }
}

/** The one that keeps the answer. An answer of another tenant is as absent. */
export function keeping(deployments: readonly Deployment[], { param, deployment }: Kept): Deployment[] {
  const found = deployments.filter(({ id }) => id === deployment)
  if (found.length > 0) return found
  const message = `No answer of this model has the id that '${param}' names.`
  throw new GatewayError('not_found', message, { param, code: 'previous_response_not_found' })
}
