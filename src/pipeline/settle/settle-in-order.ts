import { describeError } from '../../lib/log.ts'
import type { Cooled, Settlement } from '../../stores/kv/shared-store.ts'
import type { Call } from '../call.ts'
import type { PipelineServices } from '../services.ts'
import { reportCooled } from './report-cooled.ts'

/** Settles behind what the call has settled early, so that outcomes reach the store in order. Resolves when it is done;
 *  undefined if it is at once. A failure is logged and not thrown. */
export function settleInOrder(
  services: PipelineServices,
  call: Call,
  settlementOf: () => Settlement,
): Promise<void> | undefined {
  try {
    const settlement = settlementOf()
    const settling = call.settling
      ? call.settling.then(() => services.store.settle(settlement))
      : services.store.settle(settlement)
    if (!(settling instanceof Promise)) {
      if (settling) tell(services, call, settlement, settling)
      return undefined
    }
    return settling.then(
      (cooled) => cooled && tell(services, call, settlement, cooled),
      (error) => failed(services, call, error),
    )
  } catch (error) {
    failed(services, call, error)
    return undefined
  }
}

function tell(services: PipelineServices, call: Call, settlement: Settlement, cooled: readonly Cooled[]): void {
  try {
    const deployments = call.attempts.map(({ deployment }) => deployment)
    reportCooled(services, settlement, deployments, cooled)
  } catch (error) {
    failed(services, call, error)
  }
}

function failed({ log }: PipelineServices, { id: callId }: Call, error: unknown): void {
  log.warn('settle.failed', { callId, error: describeError(error) })
}
