import { describeError } from '../../lib/log.ts'
import type { Settlement } from '../../stores/kv/shared-store.ts'
import type { Call } from '../call.ts'
import type { PipelineServices } from '../services.ts'

/** Settles behind what the call has settled early, so that outcomes reach the store in order. Resolves when it is done;
 *  undefined if it is at once. A failure is logged and not thrown. */
export function settleInOrder(
  { store, log }: PipelineServices,
  call: Call,
  settlementOf: () => Settlement,
): Promise<void> | undefined {
  const failed = (error: unknown) => log.warn('settle.failed', { callId: call.id, error: describeError(error) })
  try {
    const settlement = settlementOf()
    const settle = () => store.settle(settlement)
    const settling = call.settling ? call.settling.then(settle) : settle()
    return settling?.catch(failed)
  } catch (error) {
    failed(error)
    return undefined
  }
}
