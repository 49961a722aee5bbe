import type { Metric } from './metric.ts'

/** The metrics, with a series of each sink from the start in those of sinks. */
export function withSinkSeries(metrics: readonly Metric[], sinks: Iterable<string>): Metric[] {
  const initial = Array.from(sinks, (sink) => ({ sink }))
  return metrics.map((metric) => (metric.name.startsWith('gateway_sink_') ? { ...metric, initial } : metric))
}
