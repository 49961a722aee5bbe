import { describeError } from '../../lib/log.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { Call } from '../call.ts'
import { tenantOf } from '../caller.ts'
import { edited, type Written } from '../request/written-request.ts'
import type { PipelineServices } from '../services.ts'
import { translatorOf } from '../translate/translator.ts'
import type { CallMemory } from './call-memory.ts'

/** Takes the end of the answer that the client gets. What a provider answers in the client's own dialect, it keeps
 *  itself. */
export function remember(call: Call, end: Uint8Array): void {
  const { memory } = call
  if (memory && mayBeKept(call)) memory.answer = memory.conversation.answerIn(end)
}

/** Whether the answer will be kept: then it is settled before the client has its end. */
export function mayBeKept(call: Call): boolean {
  const { memory } = call
  if (!memory?.facts.kept) return false
  const served = servedBy(call)
  return served !== undefined && isTranslated(call, served)
}

const servedBy = ({ attempts }: Call) => attempts.findLast(({ lostHedge }) => !lostHedge)?.deployment

function isTranslated({ endpoint: { mode, dialect } }: Pick<Call, 'endpoint'>, deployment: Deployment): boolean {
  return translatorOf(deployment, mode, dialect)?.translates === true
}

/** Seals the answer for the settlement, which stores it. Never rejects. */
export async function keepAnswer(services: PipelineServices, call: Call): Promise<void> {
  const { memory, caller } = call
  const answer = memory?.answer
  const deployment = servedBy(call)?.id
  if (!memory || !answer || deployment === undefined) return
  const { facts, conversation, request, recalled } = memory
  try {
    const input = [...recalled.history, ...conversation.inputOf(request, facts.id, recalled)]
    const kept = { answer, input, deployment, cachedAt: call.cache?.use.answers[0] }
    memory.value = [await services.responses.stored(tenantOf(caller), facts.id, kept)]
  } catch (error) {
    services.log.warn('memory.failed', { callId: call.id, error: describeError(error) })
  }
}

/** How a continued conversation is put to providers that did not make its answers; undefined if it is the same for
 *  all. */
export function writtenForOthers(
  written: Written,
  { conversation, recalled }: CallMemory,
  endpoint: Call['endpoint'],
): Call['writtenFor'] {
  const isOld = recalled.history.length > 0 || recalled.parts.size > 0
  if (!isOld && !conversation.holdsOwn(written.request)) return undefined
  const changes = conversation.portable(written.request)
  if (!changes) return undefined
  let other: Written | undefined
  return (deployment) => {
    if (isTranslated({ endpoint }, deployment)) return written
    other ??= edited(written, changes)
    return other
  }
}
