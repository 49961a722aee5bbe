import type { Config } from '../config/schema.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Timers } from '../lib/timers/timers.ts'
import type { ToolServers } from '../mcp/tool-servers.ts'
import type { KnownSignals } from '../routing/known-signals.ts'
import type { PromptVersions } from '../routing/prompts/prompt-versions.ts'
import type { Registry } from '../routing/registry.ts'
import type { SharedStore } from '../stores/kv/shared-store.ts'
import type { BudgetRecords } from '../stores/sql/records/budget-records.ts'
import type { ContentDoor } from '../telemetry/content/content-door.ts'
import type { CounterScope } from '../telemetry/metrics/scopes.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { Transport } from '../transport/transport.ts'
import type { BudgetNotices } from './admit/budget-notices.ts'
import type { StoreClock } from './admit/store-clock.ts'
import type { UsualUsage } from './admit/usual-usage.ts'
import type { Flights } from './cache/flights.ts'
import type { KeptResponses } from './memory/kept-responses.ts'

/** The services that the pipeline depends on. */
export interface PipelineServices {
  readonly config: Config
  readonly registry: Registry
  readonly promptVersions: PromptVersions
  readonly signals: KnownSignals
  readonly store: SharedStore
  /** The database's record of budgets, for when the shared store has none. */
  readonly budgets: Pick<BudgetRecords, 'spent'>
  readonly budgetNotices: BudgetNotices
  readonly usual: UsualUsage
  readonly transport: Transport
  /** Where a runtime bounds it: how many probes, or calls of the tools of a request, wait for their answers at once. */
  readonly callsAtOnce?: number | undefined
  /** Asks the servers of managed tools that the registry names. */
  readonly toolServers: ToolServers
  /** The memory of answers that later requests may continue. */
  readonly responses: KeptResponses
  readonly telemetry: Telemetry
  /** Calls that wait for identical ones. */
  readonly flights: Flights
  /** Sends the counters that no settlement carries to the shared store; at most once a second. */
  readonly flushCounters: CounterScope['flush']
  /** Decides whether the content of a call may leave by a sink. */
  readonly content: ContentDoor
  readonly clock: Clock
  readonly storeClock: StoreClock
  readonly timers: Timers
  readonly log: Log
  readonly random: () => number
}
