import { isoTime } from '../../lib/iso-time.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { Cooled, Settlement } from '../../stores/kv/shared-store.ts'
import type { PipelineServices } from '../services.ts'

/** Reports the deployments that a settlement has cooled. The store names each to one settlement of all processes. */
export function reportCooled(
  { telemetry, clock }: Pick<PipelineServices, 'telemetry' | 'clock'>,
  { outcomes }: Settlement,
  deployments: readonly Deployment[],
  cooled: readonly Cooled[] = [],
): void {
  for (const { deployment: id, until, failures } of cooled) {
    const deployment = deployments.find((one) => one.id === id)
    telemetry.emit({
      type: 'deployment.cooled',
      at: isoTime(clock.now()),
      deployment: id,
      model: deployment?.modelName ?? '',
      provider: deployment?.provider.kind ?? '',
      error: outcomes.findLast((one) => one.deployment === id && one.result === 'failed')?.error ?? '',
      failures,
      until: isoTime(until),
    })
  }
}
