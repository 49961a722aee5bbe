import type { RouterSettings } from '../config/sections/router-settings.ts'

/** When a call is asked of a second deployment beside the first. */
export interface Hedge {
  /** After so many milliseconds. With `p95`: as long as too little is known for that. */
  readonly afterMs: number | undefined
  /** After the time in which 95 % of the group's recent calls began to be answered. */
  readonly p95: boolean
}

/** How the calls of one route group are routed. */
export interface GroupSettings {
  readonly strategy: string
  /** That an attempt may take until its answer is there, or has begun to stream. */
  readonly timeoutSeconds: number
  /** That a call may take in all. */
  readonly totalTimeoutSeconds: number
  readonly numRetries: number
  readonly retryAfterSeconds: number
  /** undefined: never. */
  readonly hedge: Hedge | undefined
}

/** What holds for a group: its own policy, and the router settings where that says nothing. */
export function groupSettings(router: RouterSettings, group: Governed): GroupSettings {
  const found = known.get(group)
  if (found?.router === router && found.policy === group.policy) return found.settings
  const settings = settingsOf(router, group)
  known.set(group, { router, policy: group.policy, settings })
  return settings
}

interface Governed {
  readonly policy?: Partial<GroupSettings>
}

interface Known {
  readonly router: RouterSettings
  readonly policy: Governed['policy'] | undefined
  readonly settings: GroupSettings
}

/** The registry makes other groups on every change; for their calls they stay the same. */
const known = new WeakMap<Governed, Known>()

function settingsOf(router: RouterSettings, { policy }: Governed): GroupSettings {
  const general: GroupSettings = {
    strategy: router.routing_strategy,
    timeoutSeconds: router.timeout,
    totalTimeoutSeconds: router.total_timeout,
    numRetries: router.num_retries,
    retryAfterSeconds: router.retry_after,
    hedge: hedgeOf(router),
  }
  return policy ? { ...general, ...policy } : general
}

/** The setting as it is written, in the file and in a policy. */
export function hedgeOf(written: Pick<RouterSettings, 'hedge' | 'hedge_after_ms'>): Hedge | undefined {
  const { hedge, hedge_after_ms: afterMs } = written
  return hedge === undefined && afterMs === undefined ? undefined : { afterMs, p95: hedge === 'p95' }
}
