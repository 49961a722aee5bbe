import { inputTokens } from './input-tokens.ts'
import type { Metric } from './metric.ts'
import { outputTokens } from './output-tokens.ts'
import { overhead } from './overhead.ts'
import { providerLatency } from './provider-latency.ts'
import { requestFailures } from './request-failures.ts'
import { requestLatency } from './request-latency.ts'
import { requests } from './requests.ts'

/** Everything that is counted from events, in the order of the page. Gauges are read when the page is asked for. */
export const metrics: readonly Metric[] = [
  requests,
  requestFailures,
  inputTokens,
  outputTokens,
  requestLatency,
  providerLatency,
  overhead,
]
