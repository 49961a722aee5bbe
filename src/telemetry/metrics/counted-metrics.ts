import type { Config } from '../../config/schema.ts'
import { DEFAULT_CALL_LABELS } from '../../config/sections/callback-settings.ts'
import { withCallLabels } from './call-labels.ts'
import { metrics } from './index.ts'
import type { Metric } from './metric.ts'

/** The metrics that are counted from events, with the labels of calls that a gateway is set up for. */
export function countedMetrics({ gateway_settings: settings }: Pick<Config, 'gateway_settings'>): readonly Metric[] {
  return withCallLabels(metrics, settings.callback_settings.prometheus?.labels ?? DEFAULT_CALL_LABELS)
}
