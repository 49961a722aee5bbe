import { metrics } from '../../../src/telemetry/metrics/index.ts'

/** Everything that is counted from events, in the order of the page. */
export function metricNames(): string {
  const rows = metrics.map(({ name, type, help }) => `| \`${name}\` | ${type} | ${help} |`)
  return ['| Metric | Type | |', '|---|---|---|', ...rows].join('\n')
}
