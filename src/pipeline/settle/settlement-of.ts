import { newId } from '../../lib/ids.ts'
import { isoTime } from '../../lib/iso-time.ts'
import type { DeploymentOutcome } from '../../stores/kv/deployment-signals.ts'
import type { Settlement } from '../../stores/kv/shared-store.ts'
import { FALLBACK_LOG, type FallbackEvent } from '../../telemetry/fallback-events.ts'
import type { Attempt, Call } from '../call.ts'
import { keptIds } from '../ids/made-ids.ts'
import type { PipelineServices } from '../services.ts'
import type { Bill } from './bill.ts'
import { outcome, unusedPlace } from './outcome.ts'
import { trying } from './trying.ts'

/** What a call that has ended tells the shared store. */
export function settlementOf(services: PipelineServices, call: Call, { budgets }: Bill, repeats: boolean): Settlement {
  return {
    callId: call.id,
    // The item may run again under the call's id.
    id: repeats ? newId('settlement') : undefined,
    slots: call.slots,
    budgets,
    outcomes: outcomes(services, call),
    counters: trying(services, call, services.telemetry.settledCounters) ?? {},
    values: call.memory?.value ?? (call.made && trying(services, call, () => keptIds(call))) ?? [],
    entries: call.attempts.length < 2 ? [] : (trying(services, call, () => entriesOf(services, call)) ?? []),
  }
}

function outcomes(services: PipelineServices, call: Call): DeploymentOutcome[] {
  const told: DeploymentOutcome[] = []
  for (const attempt of call.attempts) if (!attempt.settled) told.push(outcome(services, call, attempt))
  for (const reserved of call.unused) told.push(unusedPlace(services, reserved))
  return told
}

function entriesOf(services: PipelineServices, call: Call): Settlement['entries'] {
  return fallbackEvents(services, call).map(entryOf)
}

function entryOf(event: FallbackEvent): Settlement['entries'][number] {
  return { ...FALLBACK_LOG, text: JSON.stringify(event) }
}

/** One event for each failed attempt that was followed by another; successful if the next attempt was. */
function fallbackEvents(services: PipelineServices, call: Call): FallbackEvent[] {
  const tried = call.attempts.filter(({ lostHedge }) => !lostHedge)
  return tried.slice(0, -1).flatMap(({ failure, deployment, turn }, index) => {
    const next = tried[index + 1] as Attempt
    // A turn that was answered is followed by the next one.
    if (next.turn !== turn) return []
    return {
      timestamp: isoTime(services.clock.now()),
      source_model: deployment.modelName,
      target_model: next.deployment.modelName,
      call_id: call.id,
      error_classification: failure?.row.classification ?? 'provider_error',
      success: next.failure === undefined,
    }
  })
}
