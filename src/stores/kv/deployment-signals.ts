/** Per-minute capacity units of a deployment, after the limit fields of `model_info`. */
export const CAPACITY_UNITS = ['requests', 'tokens', 'images', 'audioSeconds', 'characters', 'rerankUnits'] as const
export type CapacityUnit = (typeof CAPACITY_UNITS)[number]
export type Capacity = Readonly<Partial<Record<CapacityUnit, number>>>
/** How much is used of each unit. */
export type Used = { readonly [Unit in CapacityUnit]?: number | undefined }

/** A deployment that can serve a call. */
export interface Candidate {
  readonly deployment: string
  /** Per-minute limits at which it counts as full. Empty if pre-call checks are off. */
  readonly limits: Capacity
  /** Per-minute limits for its utilization, if the preference is by utilization. */
  readonly capacity?: Capacity
}

/** How free candidates are compared: by fewest attempts in flight, shortest latency, lowest utilization, or whether the
 *  utilization is below the limit's vicinity. */
export const PREFERRED_BY = ['active', 'latency', 'utilization', 'headroom'] as const
export type PreferredBy = (typeof PREFERRED_BY)[number]

export interface Preference {
  readonly by: PreferredBy
  /** What the call consumes besides requests and tokens. */
  readonly unit: CapacityUnit
}

/** How long the lease of a probe lives without renewal, at most: a probe whose process was killed keeps every other call
 *  from its deployment no longer than that. */
export const PROBE_SECONDS = 10

/** An attempt's reservation of a deployment: a lease, and one request of the current minute. */
export interface Reservation {
  readonly deployment: string
  /** When it was reserved, in milliseconds since 1970 by the store's clock. */
  readonly at: number
  /** The attempt is the probe after a cooldown: its outcome decides whether the deployment serves calls again. */
  readonly probe: boolean
}

/** What all processes together know about one deployment. Used units are those of the current minute (60 s from its first
 *  use). */
export interface DeploymentSignals {
  readonly deployment: string
  /** Attempts in flight: live leases. */
  readonly active: number
  readonly used: Used
  /** Failures since the last success. */
  readonly failures: number
  /** Milliseconds since 1970; 0 if it is not cooled. A past time with `failures` means that a probe is due. */
  readonly cooledUntil: number
  /** A probe is in flight. */
  readonly probing: boolean
  /** Decaying means over successes; 0 without one. */
  readonly latencyMs: number
  readonly firstTokenMs: number
  readonly samples: number
  /** When the last of these samples ended. */
  readonly sampledAt: number
  readonly lastError: string
  readonly lastErrorAt: number
  readonly lastSuccessAt: number
}

/** The outcome of an attempt that reserved a deployment, or its commit. */
export interface DeploymentOutcome {
  readonly attemptId: string
  readonly deployment: string
  /** `neutral`: the client disconnected or its request was invalid, so the deployment is not judged. `committed`: the answer
   *  has begun; the lease continues, and the deployment counts as recovered. `released`: an administrator ends its
   *  cooldown. */
  readonly result: 'succeeded' | 'failed' | 'neutral' | 'committed' | 'released'
  /** The actual usage, without the request, which was counted at the reservation. */
  readonly used: Capacity
  /** When the reservation was made, if no upstream request followed. Its request is subtracted from that minute. */
  readonly unusedSince?: number
  /** Absent for health checks, which are no samples. */
  readonly latencyMs?: number
  readonly firstTokenMs?: number
  /** Classification of the failure; no text of an upstream. */
  readonly error?: string
  /** A failure beyond `allowedFails` in a row cools for `seconds`; 0 turns cooling off. Never shortens. */
  readonly cooldown: { readonly allowedFails: number; readonly seconds: number }
}

/** `half-open`: the cooldown is over, and one probe has to succeed before it serves calls again. */
export type Availability = 'free' | 'full' | 'cooled' | 'half-open' | 'probing'

type Judged = Pick<DeploymentSignals, 'used' | 'failures' | 'cooledUntil' | 'lastErrorAt' | 'probing'>

/** Whether a deployment can take a call at `now`. A cooldown whose failure is yet to come began before the clock was set
 *  back, and is over. `scripts/deployments.ts` implements it in Lua. */
export function availabilityOf(
  { used, failures, cooledUntil, lastErrorAt, probing }: Judged,
  limits: Capacity,
  now: number,
): Availability {
  for (const unit in limits) {
    const limit = limits[unit as CapacityUnit]
    if (limit !== undefined && (used[unit as CapacityUnit] ?? 0) >= limit) return 'full'
  }
  if (cooledUntil > now && lastErrorAt <= now) return 'cooled'
  if (cooledUntil === 0 || failures === 0) return 'free'
  return probing ? 'probing' : 'half-open'
}

/** The share of a limit that counts as near it. */
const NEAR_LIMIT = 0.9

/** How long a latency is recent. */
export const RECENT_MS = 300_000

/** Whether a deployment is due to be measured anew: it has neither answered nor failed of late, and is not asked right
 *  now. Otherwise one that was slow once would be last for ever. */
export function isStale(signals: DeploymentSignals, now: number): boolean {
  const { samples, active, sampledAt, lastErrorAt } = signals
  return samples > 0 && active === 0 && now - Math.max(sampledAt, lastErrorAt) > RECENT_MS
}

const RANKS: Readonly<
  Record<PreferredBy, (signals: DeploymentSignals, limits: Capacity, unit: CapacityUnit, now: number) => number>
> = {
  active: ({ active }) => active,
  latency: (signals, _limits, _unit, now) =>
    signals.samples === 0 || isStale(signals, now) ? 0 : signals.firstTokenMs || signals.latencyMs,
  utilization,
  headroom: (signals, limits, unit) => (utilization(signals, limits, unit) > NEAR_LIMIT ? 1 : 0),
}

/** The rank of a candidate at `now`; the lowest is preferred. `scripts/deployments.ts` implements it in Lua. */
export function rankBy({ by, unit }: Preference, signals: DeploymentSignals, limits: Capacity, now: number): number {
  return RANKS[by](signals, limits, unit, now)
}

/** The largest used share of a deployment's per-minute limits, among requests, tokens and the unit. */
export function utilization({ used }: Pick<DeploymentSignals, 'used'>, limits: Capacity, unit: CapacityUnit): number {
  const share = Math.max(shareUsed(used, limits, 'requests'), shareUsed(used, limits, 'tokens'))
  return Math.max(share, shareUsed(used, limits, unit))
}

/** The used share of one limit; 0 without a limit. */
export function shareUsed(used: Used, limits: Capacity, unit: CapacityUnit): number {
  const limit = limits[unit]
  if (limit === undefined) return 0
  return limit === 0 ? Number.POSITIVE_INFINITY : (used[unit] ?? 0) / limit
}
