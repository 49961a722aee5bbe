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
  const { store, log } = services
  const failed = (error: unknown) => log.warn('settle.failed', { callId: call.id, error: describeError(error) })
  try {
    const settlement = settlementOf()
    const settle = () => store.settle(settlement)
    const told = (cooled: readonly Cooled[] | undefined) => {
      if (!cooled) return
      try {
        const deployments = call.attempts.map(({ deployment }) => deployment)
        reportCooled(services, settlement, deployments, cooled)
      } catch (error) {
        failed(error)
      }
    }
    const settling = call.settling ? call.settling.then(settle) : settle()
    if (settling instanceof Promise) return settling.then(told, failed)
    told(settling)
    return undefined
  } catch (error) {
    failed(error)
    return undefined
  }
}
