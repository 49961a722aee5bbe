import type { RouterSettings } from '../config/sections/router-settings.ts'

/** When a hedge, a second attempt in parallel, starts. */
export interface Hedge {
  /** The hedge starts after this time. With `p95` it applies while there are too few samples. */
  readonly afterMs: number | undefined
  /** The hedge starts after the time within which 95 % of the group's recent answers began. */
  readonly p95: boolean
}

/** How the calls of one route group are routed. */
export interface GroupSettings {
  readonly strategy: string
  /** The limit of an attempt until its answer is complete, or until its stream has begun. */
  readonly timeoutSeconds: number
  /** The limit of a whole call. */
  readonly totalTimeoutSeconds: number
  readonly numRetries: number
  readonly retryAfterSeconds: number
  /** undefined disables hedging. */
  readonly hedge: Hedge | undefined
  /** The prompt of calls that name none. */
  readonly promptRef: string | undefined
}

/** The settings of a group: its own policy, completed by the router settings. */
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

/** The settings by group. The registry creates new groups with every change, so that a group's settings are
 *  constant. */
const known = new WeakMap<Governed, Known>()

function settingsOf(router: RouterSettings, { policy }: Governed): GroupSettings {
  const general: GroupSettings = {
    strategy: router.routing_strategy,
    timeoutSeconds: router.timeout,
    totalTimeoutSeconds: router.total_timeout,
    numRetries: router.num_retries,
    retryAfterSeconds: router.retry_after,
    hedge: hedgeOf(router),
    promptRef: undefined,
  }
  return policy ? { ...general, ...policy } : general
}

/** The hedge of the keys of the file, or of a policy. */
export function hedgeOf(keys: Pick<RouterSettings, 'hedge' | 'hedge_after_ms'>): Hedge | undefined {
  const { hedge, hedge_after_ms: afterMs } = keys
  return hedge === undefined && afterMs === undefined ? undefined : { afterMs, p95: hedge === 'p95' }
}
