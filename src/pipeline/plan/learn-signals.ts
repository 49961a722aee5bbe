import { describeError } from '../../lib/log.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { Call } from '../call.ts'
import type { PipelineServices } from '../services.ts'

/** Reads signals from the store. An outage does not fail an admitted call: the known signals stay in use. */
export async function learnSignals(
  { store, signals, log }: PipelineServices,
  call: Call,
  of: readonly Deployment[],
): Promise<void> {
  try {
    signals.learn(await store.signals(of.map(({ id }) => id)))
  } catch (error) {
    log.warn('signals.failed', { callId: call.id, error: describeError(error) })
  }
}
