import { measured } from '../../lib/clock.ts'
import type { AttemptFinished } from '../../telemetry/events.ts'
import type { Attempt, Call } from '../call.ts'
import { withoutContent } from './without-content.ts'

/** A longer message is cut. */
const LONGEST_MESSAGE = 300

/** An attempt as events tell of it. */
export function attemptFinished(call: Call, one: Attempt, costNano: number | undefined): AttemptFinished {
  const { deployment, plan, failure, startedAt, firstTokenAt, endedAt, usage, turn, upstreamStatus } = one
  return {
    deployment: deployment.id,
    provider: deployment.provider.kind,
    group: plan.group.name,
    result: resultOf(one),
    error: failure ? (failure.row.classification ?? failure.failure) : '',
    message: failure && messageOf(call, failure.message),
    upstreamStatus,
    upstreamMessage: messageOf(call, one.upstreamWords),
    turn,
    usage,
    costNano,
    startedMs: measured(startedAt - call.arrivedAt),
    firstTokenMs: firstTokenAt === undefined ? undefined : measured(firstTokenAt - startedAt),
    totalMs: measured((endedAt ?? startedAt) - startedAt),
  }
}

function resultOf({ lostHedge, failure, firstTokenAt }: Attempt): AttemptFinished['result'] {
  if (lostHedge) return 'lost_hedge'
  if (!failure) return 'answered'
  if (failure.failure === 'client_closed') return 'client_closed'
  return firstTokenAt === undefined ? 'failed' : 'cut'
}

function messageOf({ request }: Call, text: string): string | undefined {
  if (text === '') return undefined
  const message = text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE).toWellFormed()}…` : text
  return withoutContent(message, request) || undefined
}
