import type { Quota } from '../shared-store.ts'
import type { Entry } from './expiring-map.ts'

/** The counters of a subject: what is used by unit and window, followed by the end of each. Numbers alone, because a call
 *  reads and writes many of them. */
export type Counters = number[]

const UNITS = ['requests', 'tokens'] as const
export const WINDOWS = ['minute', 'hour', 'day'] as const
/** Where the ends of a subject's counters begin. */
export const ENDS = UNITS.length * WINDOWS.length

export const noCounters = (): Counters => [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]

/** The quotas of a caller as they are counted. All calls of a caller have the same list, so that this is made once. */
export interface CountedQuotas {
  readonly subjects: readonly string[]
  /** The counters of each subject as they were found last. */
  readonly found: (Entry<Counters> | undefined)[]
  /** The ends as they were told last, which calls share until one changes. */
  resetsAt: readonly number[]
  /** Of each quota: its limit, and where its subject and its counter are. */
  readonly limits: readonly number[]
  readonly subjectAt: readonly number[]
  readonly counterAt: readonly number[]
}

export function countedQuotas(quotas: readonly Quota[]): CountedQuotas {
  const subjects = [...new Set(quotas.map(({ subject }) => subject))]
  return {
    subjects,
    found: subjects.map(() => undefined),
    resetsAt: quotas.map(() => 0),
    limits: quotas.map(({ limit }) => limit),
    subjectAt: quotas.map(({ subject }) => subjects.indexOf(subject)),
    counterAt: quotas.map(({ unit, window }) => UNITS.indexOf(unit) * WINDOWS.length + WINDOWS.indexOf(window)),
  }
}
