/** Per-minute capacity units of a deployment, after the limit fields of `model_info`. */
export const CAPACITY_UNITS = ['requests', 'tokens', 'images', 'audioSeconds', 'characters', 'rerankUnits'] as const
export type CapacityUnit = (typeof CAPACITY_UNITS)[number]
export type Capacity = Readonly<Partial<Record<CapacityUnit, number>>>

/** A deployment that a call may go to. */
export interface Candidate {
  readonly deployment: string
  /** Per-minute limits at which it counts as full. Empty when pre-call checks are off. */
  readonly limits: Capacity
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

/** How an attempt that reserved a deployment ended. */
export interface DeploymentOutcome {
  readonly attemptId: string
  readonly deployment: string
  /** `neutral`: the client left, or sent something no deployment would take; says nothing about the deployment. */
  readonly result: 'succeeded' | 'failed' | 'neutral'
  /** Real usage, beyond the request itself, which was counted at the reservation. */
  readonly used: Capacity
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
