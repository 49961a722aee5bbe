import { LIFETIME_MS } from '../keys.ts'
import type { Quota, QuotaStates } from '../shared-store.ts'
import { isOpen, windowEnd } from '../windows.ts'
import { type CountedQuotas, type Counters, countedQuotas, ENDS, noCounters, WINDOWS } from './counters.ts'
import type { Entry } from './expiring-map.ts'
import type { State } from './state.ts'

/** The quotas of a caller, whose calls all have the same list. */
export function countedQuotasOf(state: State, quotas: readonly Quota[]): CountedQuotas {
  let counted = state.countedQuotas.get(quotas)
  if (!counted) {
    counted = countedQuotas(quotas)
    state.countedQuotas.set(quotas, counted)
  }
  return counted
}

/** The quota states that the check reads and the count updates in place. */
export interface Counts extends QuotaStates {
  readonly used: number[]
}

export function readQuotas(state: State, counted: CountedQuotas, now: number): Counts {
  const { subjects, found, subjectAt, counterAt } = counted
  for (let index = 0; index < subjects.length; index++) {
    found[index] = state.quotas.entry(subjects[index] as string, found[index])
  }
  const [minute, hour, day] = [windowEnd('minute', now), windowEnd('hour', now), windowEnd('day', now)]
  const used = new Array<number>(counterAt.length)
  let changed: number[] | undefined
  for (let index = 0; index < counterAt.length; index++) {
    const at = counterAt[index] as number
    const window = WINDOWS[at % WINDOWS.length]
    const latest = window === 'minute' ? minute : window === 'hour' ? hour : day
    const counters = found[subjectAt[index] as number]?.value
    const ends = counters ? (counters[ENDS + at] as number) : 0
    const isCurrent = isOpen(ends, latest, now)
    used[index] = counters && isCurrent ? (counters[at] as number) : 0
    const resetsAt = isCurrent ? ends : latest
    if (resetsAt === counted.resetsAt[index]) continue
    changed ??= [...counted.resetsAt]
    changed[index] = resetsAt
  }
  if (changed) counted.resetsAt = changed
  return { used, resetsAt: counted.resetsAt }
}

const costOf = (counter: number, tokens: number) => (counter < WINDOWS.length ? 1 : tokens)

/** The index of the first quota that has no room for a call; -1 if there is none. */
export function fullQuota({ limits, counterAt }: CountedQuotas, { used }: QuotaStates, tokens: number): number {
  for (let index = 0; index < limits.length; index++) {
    const limit = limits[index] as number
    if (limit <= 0 || (used[index] as number) + costOf(counterAt[index] as number, tokens) > limit) return index
  }
  return -1
}

export function countQuotas(
  state: State,
  { subjects, found, subjectAt, counterAt }: CountedQuotas,
  { used, resetsAt }: Counts,
  tokens: number,
  now: number,
): void {
  const expiresAt = now + LIFETIME_MS.quota
  for (let index = 0; index < subjects.length; index++) {
    const entry = found[index]
    if (entry) entry.expiresAt = expiresAt
    else found[index] = state.quotas.put(subjects[index] as string, noCounters(), expiresAt)
  }
  for (let index = 0; index < counterAt.length; index++) {
    const at = counterAt[index] as number
    const counters = (found[subjectAt[index] as number] as Entry<Counters>).value
    const counted = (used[index] as number) + costOf(at, tokens)
    used[index] = counted
    counters[at] = counted
    counters[ENDS + at] = resetsAt[index] as number
  }
}
