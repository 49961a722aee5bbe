import type { Totals } from '../../data/sums.ts'
import { duration, money } from '../../design/format.ts'
import { percentile, short } from '../../design/rounded.ts'

export interface Metric {
  readonly label: string
  readonly value: (sums: Totals) => number | null
  readonly format: (value: number) => string
  /** How an axis tells values, where that is another way. */
  readonly axis?: (value: number) => string
  /** Sums of it mean something: it is stacked, and can be added up over time. */
  readonly adds: boolean
}

const number = (label: string, value: (sums: Totals) => number): Metric => ({ label, value, format: short, adds: true })
const dollars = (label: string, value: (sums: Totals) => number): Metric => ({
  label,
  value,
  format: money,
  adds: true,
})
const time = (label: string, value: (sums: Totals) => number | null, format: Metric['format'] = duration): Metric => ({
  label,
  value,
  format,
  axis: duration,
  adds: false,
})

/** What the chart can show, by its name in the address: those of the report. */
export const METRICS = {
  spend: dollars('Spend', ({ spend }) => spend),
  calls: number('Calls', ({ calls }) => calls),
  failed_calls: number('Failed calls', ({ failed_calls: calls }) => calls),
  input_tokens: number('Tokens in', ({ input_tokens: tokens }) => tokens),
  output_tokens: number('Tokens out', ({ output_tokens: tokens }) => tokens),
  cached_input_tokens: number('Tokens in, cached', ({ cached_input_tokens: tokens }) => tokens),
  reasoning_tokens: number('Reasoning tokens', ({ reasoning_tokens: tokens }) => tokens),
  saved: dollars('Saved by the cache', ({ saved }) => saved),
  average_ms: time('Average time', ({ average_ms: ms }) => ms),
  p95_ms: time('Time, 95th percentile', ({ p95_ms: ms }) => ms, percentile),
  first_token_p95_ms: time('First token, 95th percentile', ({ first_token_p95_ms: ms }) => ms, percentile),
} as const satisfies Record<string, Metric>
export type MetricName = keyof typeof METRICS

/** What calls are grouped by, with the filter that means one group. */
export const GROUPS = {
  model: { label: 'Model', filter: 'model' },
  provider: { label: 'Provider', filter: 'provider' },
  deployment: { label: 'Deployment', filter: 'deployment' },
  organization: { label: 'Organization', filter: 'organization_id' },
  team: { label: 'Team', filter: 'team_id' },
  user: { label: 'User', filter: 'user_id' },
  key: { label: 'Key', filter: 'key_id' },
  tag: { label: 'Tag', filter: 'tag' },
} as const
export type Group = keyof typeof GROUPS

/** What a value is called that calls do not have. */
export const withoutOne = (group: Group): string => `no ${GROUPS[group].label.toLowerCase()}`
