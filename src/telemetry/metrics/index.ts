import { auditDropped } from './audit-dropped.ts'
import { auditLatency } from './audit-latency.ts'
import { auditWriteFailures } from './audit-write-failures.ts'
import { batchItemTime } from './batch-item-time.ts'
import { batchItems } from './batch-items.ts'
import { batchLag } from './batch-lag.ts'
import { cacheHit } from './cache-hit.ts'
import { cacheMiss } from './cache-miss.ts'
import { cacheSaved } from './cache-saved.ts'
import { fieldsDropped } from './fields-dropped.ts'
import { firstToken } from './first-token.ts'
import { inputTokens } from './input-tokens.ts'
import type { Metric } from './metric.ts'
import { outputTokens } from './output-tokens.ts'
import { overhead } from './overhead.ts'
import { promptLatency } from './prompt-latency.ts'
import { promptResolutions } from './prompt-resolutions.ts'
import { providerLatency } from './provider-latency.ts'
import { recordWriteFailures } from './record-write-failures.ts'
import { recordsDead } from './records-dead.ts'
import { recordsDropped } from './records-dropped.ts'
import { recordsFolded } from './records-folded.ts'
import { recordsKept } from './records-kept.ts'
import { requestFailures } from './request-failures.ts'
import { requestLatency } from './request-latency.ts'
import { requests } from './requests.ts'
import { sinkDelivered } from './sink-delivered.ts'
import { sinkDropped } from './sink-dropped.ts'
import { sinkFailures } from './sink-failures.ts'
import { spend } from './spend.ts'
import { toolCallTime } from './tool-call-time.ts'
import { toolCalls } from './tool-calls.ts'
import { unpricedCalls } from './unpriced-calls.ts'

/** All metrics that are counted from events, in the order of the page. Gauges are read at each scrape. */
export const metrics: readonly Metric[] = [
  requests,
  requestFailures,
  inputTokens,
  outputTokens,
  spend,
  unpricedCalls,
  cacheHit,
  cacheMiss,
  cacheSaved,
  requestLatency,
  providerLatency,
  firstToken,
  overhead,
  promptResolutions,
  promptLatency,
  auditWriteFailures,
  auditDropped,
  auditLatency,
  recordWriteFailures,
  recordsKept,
  recordsFolded,
  recordsDead,
  recordsDropped,
  sinkDelivered,
  sinkFailures,
  sinkDropped,
  batchItems,
  batchItemTime,
  batchLag,
  toolCalls,
  toolCallTime,
  fieldsDropped,
]
