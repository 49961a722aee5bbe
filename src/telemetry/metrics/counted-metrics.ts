import type { Config } from '../../config/schema.ts'
import { DEFAULT_CALL_LABELS } from '../../config/sections/callback-settings.ts'
import { type CallLabel, withCallLabels } from './call-labels.ts'
import { metrics } from './index.ts'
import type { Metric } from './metric.ts'

/** The metrics that are counted from events, as a gateway is set up. */
export interface CountedMetrics {
  readonly metrics: readonly Metric[]
  /** The labels of calls that they have. */
  readonly labels: readonly CallLabel[]
}

export function countedMetrics({ gateway_settings: settings }: Pick<Config, 'gateway_settings'>): CountedMetrics {
  const labels = settings.callback_settings.prometheus?.labels ?? DEFAULT_CALL_LABELS
  return { metrics: withCallLabels(metrics, labels), labels }
}
