import type { Metric } from './metric.ts'

/** The metrics; those of sinks have a series of each from the start. */
export function withSinkSeries(metrics: readonly Metric[], sinks: Iterable<string>): Metric[] {
  const initial = Array.from(sinks, (sink) => ({ sink }))
  return metrics.map((metric) => (metric.ofSinks ? { ...metric, initial } : metric))
}
