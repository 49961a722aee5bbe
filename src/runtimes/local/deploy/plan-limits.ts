/** What Cloudflare allows a Worker, by its plan. */
export interface PlanLimits {
  readonly name: string
  readonly gzipBytes: number
  readonly bytes: number
  readonly startupMs: number
  readonly variables: number
  readonly variableBytes: number
  /** Requests that one event may make to what is not Cloudflare's own. */
  readonly subrequests: number
  /** Of the whole account. */
  readonly cronTriggers: number
  /** How long a queue keeps a message, in seconds. */
  readonly retentionSeconds: number
}

const MB = 1_000_000
const DAY_SECONDS = 86_400

const EVERY_PLAN = { bytes: 64 * MB, startupMs: 1000, variableBytes: 5000 }

export const PLANS = {
  free: {
    ...EVERY_PLAN,
    name: 'Workers Free',
    gzipBytes: 3 * MB,
    variables: 64,
    subrequests: 50,
    cronTriggers: 5,
    retentionSeconds: DAY_SECONDS,
  },
  paid: {
    ...EVERY_PLAN,
    name: 'Workers Paid',
    gzipBytes: 10 * MB,
    variables: 128,
    subrequests: 10_000,
    cronTriggers: 250,
    retentionSeconds: 14 * DAY_SECONDS,
  },
} as const satisfies Record<string, PlanLimits>

export interface Measured {
  readonly gzipBytes: number
  readonly bytes: number
  /** undefined: it could not be measured here. */
  readonly startupMs: number | undefined
  readonly subrequests: number
  readonly cronTriggers: number
}

/** What of a Worker exceeds its plan, in words. */
export function beyondPlan(measured: Measured, plan: PlanLimits): string[] {
  const rows = [
    ['the bundle, gzipped,', measured.gzipBytes, plan.gzipBytes, 'bytes'],
    ['the bundle', measured.bytes, plan.bytes, 'bytes'],
    ['its start', measured.startupMs ?? 0, plan.startupMs, 'ms of CPU'],
    ['a call', measured.subrequests, plan.subrequests, 'subrequests'],
    ['wrangler.toml', measured.cronTriggers, plan.cronTriggers, 'cron triggers'],
  ] as const
  return rows
    .filter(([, found, most]) => found > most)
    .map(([what, found, most, unit]) => `${what} takes ${found} ${unit}; ${plan.name} allows ${most}`)
}

/** Which of a Worker's variables are too large, or that they are too many. Never quotes a value. */
export function variablesBeyondPlan(variables: Readonly<Record<string, string>>, plan: PlanLimits): string[] {
  const bytesOf = (text: string) => new TextEncoder().encode(text).byteLength
  const large = Object.entries(variables).filter(([, value]) => bytesOf(value) > plan.variableBytes)
  const count = Object.keys(variables).length
  return [
    ...large.map(([name, value]) => `${name} has ${bytesOf(value)} bytes; Workers allows ${plan.variableBytes}`),
    ...(count > plan.variables ? [`${count} variables; ${plan.name} allows ${plan.variables}`] : []),
  ]
}
