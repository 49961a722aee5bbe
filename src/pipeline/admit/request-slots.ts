import { describeError } from '../../lib/log.ts'
import { atMost } from '../../lib/timers/at-most.ts'
import { ASKS_NOTHING, TELLS_NOTHING } from '../../stores/kv/nothing.ts'
import type { PipelineServices } from '../services.ts'
import { type Asking, decide, LEASE_SECONDS } from './decide.ts'
import { RENEW_MS, renewEvery } from './lease-renewal.ts'

/** How long a request waits at its end until its slots are free, so that its client may send the next one at once. */
const RELEASE_WAIT_MS = 300

/** Takes the slots of a caller for a request that is no model call, or throws the refusal: nothing else is counted or
 *  held. Returns what gives them back; undefined for a caller whose parallel requests nothing limits, which costs no
 *  round trip. */
export async function takeSlots(
  services: PipelineServices,
  { id, ...asking }: Asking & { readonly id: string },
): Promise<((defer: (work: Promise<unknown>) => void) => Promise<unknown>) | undefined> {
  if (asking.caller.slots.length === 0) return undefined
  const { asked } = await decide(services, asking, ({ slots }, _seeds, held) => ({
    ...ASKS_NOTHING,
    callId: id,
    attemptId: id,
    ...held,
    slots,
    leaseSeconds: LEASE_SECONDS,
  }))
  const slots = asked.slots.map(({ subject }) => subject)
  const stopRenewal = renewEvery(services, RENEW_MS, () => ({
    callId: id,
    attemptIds: [],
    slots,
    budgets: [],
    leaseSeconds: LEASE_SECONDS,
  }))
  return (defer) => {
    stopRenewal()
    const releasing = Promise.resolve(services.store.settle({ ...TELLS_NOTHING, callId: id, slots })).catch((error) =>
      services.log.warn('settle.failed', { callId: id, error: describeError(error) }),
    )
    defer(releasing)
    return atMost(RELEASE_WAIT_MS, releasing, services.timers)
  }
}
