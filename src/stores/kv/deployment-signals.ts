/** Per-minute capacity units of a deployment, after the limit fields of `model_info`. */
export const CAPACITY_UNITS = ['requests', 'tokens', 'images', 'audioSeconds', 'characters', 'rerankUnits'] as const
export type CapacityUnit = (typeof CAPACITY_UNITS)[number]
export type Capacity = Readonly<Partial<Record<CapacityUnit, number>>>

/** A deployment that a call may go to. */
export interface Candidate {
  readonly deployment: string
  /** Per-minute limits at which it counts as full. Empty when pre-call checks are off. */
  readonly limits: Capacity
  /** Per-minute limits that its utilization is measured by, where that decides. */
  readonly capacity?: Capacity
}

/** What one free candidate is preferred to another for: fewest attempts in flight, shortest wait for an answer, lowest
 *  share of its tightest limit used, or that share not being near the limit. */
export const PREFERRED_BY = ['active', 'latency', 'utilization', 'headroom'] as const
export type PreferredBy = (typeof PREFERRED_BY)[number]

export interface Preference {
  readonly by: PreferredBy
  /** What the call consumes besides requests and tokens. */
  readonly unit: CapacityUnit
}

/** An attempt's place at a deployment: its lease, and one request of the running minute. */
export interface Reservation {
  readonly deployment: string
  /** When it was taken. Milliseconds since 1970, by the store's clock. */
  readonly at: number
  /** Whether the deployment takes calls again depends on how this attempt ends. */
  readonly probe: boolean
}

/** What the isolates know together about one deployment. Units used are those of the running minute (60 s from its
 *  first use). */
export interface DeploymentSignals {
  readonly deployment: string
  /** Attempts in flight: live leases. */
  readonly active: number
  readonly used: Capacity
  /** Failures since the last success. */
  readonly failures: number
  /** Milliseconds since 1970; 0 when it is not cooled. In the past with failures left: due for its probe. */
  readonly cooledUntil: number
  /** A probe is in flight. */
  readonly probing: boolean
  /** Decaying means over successes, 0 when there was none. */
  readonly latencyMs: number
  readonly firstTokenMs: number
  readonly samples: number
  readonly lastError: string
  readonly lastErrorAt: number
  readonly lastSuccessAt: number
}

/** How an attempt that reserved a deployment ended, or that it goes well. */
export interface DeploymentOutcome {
  readonly attemptId: string
  readonly deployment: string
  /** `neutral`: the client left, or sent something no deployment would take; says nothing about the deployment.
   *  `committed`: its answer has begun and goes on, and so does its lease; the deployment takes calls again. */
  readonly result: 'succeeded' | 'failed' | 'neutral' | 'committed'
  /** Real usage, beyond the request itself, which was counted at the reservation. */
  readonly used: Capacity
  /** Where no upstream was asked after all: when the place was reserved. Its request is given back to that minute. */
  readonly unusedSince?: number
  /** Left out where it is no sample: a health check's question is not a client's. */
  readonly latencyMs?: number
  readonly firstTokenMs?: number
  /** Classification of the failure; no text of an upstream. */
  readonly error?: string
  /** A failure beyond `allowedFails` in a row cools for `seconds`; 0 turns cooling off. Never shortens. */
  readonly cooldown: { readonly allowedFails: number; readonly seconds: number }
}

/** `half-open`: its cooldown is over, and one probe must succeed before it takes calls again. */
export type Availability = 'free' | 'full' | 'cooled' | 'half-open' | 'probing'

/** Whether a deployment takes a call at `now`. `scripts/deployments.ts` says the same in Lua. */
export function availabilityOf(
  { used, failures, cooledUntil, probing }: Pick<DeploymentSignals, 'used' | 'failures' | 'cooledUntil' | 'probing'>,
  limits: Capacity,
  now: number,
): Availability {
  for (const unit of CAPACITY_UNITS) {
    const limit = limits[unit]
    if (limit !== undefined && (used[unit] ?? 0) >= limit) return 'full'
  }
  if (cooledUntil > now) return 'cooled'
  if (cooledUntil === 0 || failures === 0) return 'free'
  return probing ? 'probing' : 'half-open'
}

/** The share of a limit that counts as near it. */
const NEAR_LIMIT = 0.9

const RANKS: Readonly<
  Record<PreferredBy, (signals: DeploymentSignals, limits: Capacity, unit: CapacityUnit) => number>
> = {
  active: ({ active }) => active,
  latency: ({ samples, firstTokenMs, latencyMs }) => (samples === 0 ? 0 : firstTokenMs || latencyMs),
  utilization,
  headroom: (signals, limits, unit) => (utilization(signals, limits, unit) > NEAR_LIMIT ? 1 : 0),
}

/** How a candidate stands by a preference: the lowest is taken. `scripts/deployments.ts` says the same in Lua. */
export function rankBy({ by, unit }: Preference, signals: DeploymentSignals, limits: Capacity): number {
  return RANKS[by](signals, limits, unit)
}

/** The tightest share of its per-minute limits that a deployment has used, for requests, tokens and the unit. */
export function utilization({ used }: Pick<DeploymentSignals, 'used'>, limits: Capacity, unit: CapacityUnit): number {
  const share = Math.max(shareUsed(used, limits, 'requests'), shareUsed(used, limits, 'tokens'))
  return Math.max(share, shareUsed(used, limits, unit))
}

/** The share used of one limit: 0 where there is none. */
export function shareUsed(used: Capacity, limits: Capacity, unit: CapacityUnit): number {
  const limit = limits[unit]
  if (limit === undefined) return 0
  return limit === 0 ? Number.POSITIVE_INFINITY : (used[unit] ?? 0) / limit
}
