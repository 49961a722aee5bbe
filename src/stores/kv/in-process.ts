import { elapsedMs } from '../../lib/clock.ts'
import type { BudgetSpent } from '../sql/records/budget-records.ts'
import { addTo, isCounter } from './counted-series.ts'
import type { Reservation } from './deployment-signals.ts'
import { admit, standing } from './in-process/admission.ts'
import { forgetBudget } from './in-process/budgets.ts'
import {
  availability,
  finish,
  mayProbeEarly,
  onlyReleased,
  reserve,
  signalsOf,
  unknownDeployment,
} from './in-process/deployment-state.ts'
import { endLead, renewLead } from './in-process/leads.ts'
import { createState, deploymentExpiresAt, leasesExpireAt, type State } from './in-process/state.ts'
import {
  answerKey,
  budgetKey,
  clearedKey,
  type Key,
  LIFETIME_MS,
  leadKey,
  providerIdKey,
  responseKey,
  SHORT_MS,
} from './keys.ts'
import type { AttemptStart, Change, Cooled, Lease, Settlement, SharedStore } from './shared-store.ts'
import type { StoredValue } from './stored-value.ts'
import { isYetToBegin, milliseconds } from './windows.ts'

/** Budgets can be removed by key; their spend is then read from the database. */
const BUDGETS = budgetKey('')
/** Provider ids have a map of their own, because their number would evict other values. */
const PROVIDER_IDS = providerIdKey('')
const ANSWERS = answerKey('')
const RESPONSES = responseKey('', '').slice(0, -1)
const LEADS = leadKey('')
const CLEARINGS = clearedKey('', '').slice(0, clearedKey('', '').indexOf('['))

export interface InProcessOptions {
  readonly now: () => number
  /** Creates the state, which uses the given clock. Default: in memory alone. */
  readonly state?: (now: () => number) => State
}

/** A store for a single process: the embedded default, the fallback while the shared store is away, and the reference
 *  for the other adapters. Each method runs without interruption. */
export function inProcessStore({ now, state: stateOf = createState }: InProcessOptions): SharedStore {
  // The clock is read once for each method.
  let at = now()
  const state = stateOf(() => at)

  const deployment = (name: string) => state.deployments.get(name) ?? unknownDeployment()
  const deploymentEntry = (name: string) =>
    state.deployments.entry(name) ?? state.deployments.put(name, unknownDeployment(), at + LIFETIME_MS.deployment)

  function startAttempt({ attemptId, candidate, leaseSeconds, early, retry }: AttemptStart): Reservation | undefined {
    const name = candidate.deployment
    const known = deployment(name)
    if (known.active.has(attemptId, at)) return { deployment: name, at, probe: known.probe === attemptId }
    const available = availability(known, candidate, attemptId, at)
    const probe = available === 'half-open' || (early === true && available === 'cooled' && mayProbeEarly(known, at))
    if (available !== 'free' && !probe && !(retry && available === 'cooled')) return undefined
    reserve(known, attemptId, at + milliseconds(leaseSeconds), probe, at)
    state.deployments.set(name, known, deploymentExpiresAt(known, at))
    return { deployment: name, at, probe }
  }

  function settle(outcome: Settlement): readonly Cooled[] | undefined {
    at = now()
    let cooled: Cooled[] | undefined
    const { lateMs = 0 } = outcome
    const repeated = !state.settled.add(outcome.id ?? outcome.callId, at)
    for (const subject of outcome.slots) state.slots.get(subject)?.remove(outcome.callId)
    for (const { subject, period, holdNano, spentNano } of outcome.budgets) {
      const entry = state.budgets.entry(subject)
      if (!entry) continue
      const record = entry.value
      record.holds.remove(outcome.callId, holdNano)
      if (record.isUnread) continue
      const adds = !repeated && (lateMs === 0 || record.readAt <= at - lateMs)
      if (adds && period > record.period && !isYetToBegin(period, at)) {
        record.period = period
        record.spent = spentNano
      } else if (adds && period === record.period) record.spent += spentNano
      entry.expiresAt = at + LIFETIME_MS.budget
    }
    for (const told of outcome.outcomes) {
      const ended = repeated ? onlyReleased(told) : told
      if (!ended) continue
      const entry = deploymentEntry(ended.deployment)
      const known = entry.value
      if (finish(known, ended, at)) {
        cooled ??= []
        cooled.push({ deployment: ended.deployment, until: known.cooledUntil, failures: known.failures })
      }
      entry.expiresAt = deploymentExpiresAt(known, at)
    }
    if (outcome.lead) endLead(state, outcome.lead, outcome.callId, at)
    if (repeated) return undefined
    for (const name in outcome.counters) addTo(state.counters, name, outcome.counters[name] as number)
    for (const { log, text, keep } of outcome.entries) {
      const entries = state.logs.get(log) ?? []
      entries.unshift(text)
      if (entries.length > keep) entries.length = keep
      state.logs.set(log, entries, at + LIFETIME_MS.log)
    }
    for (const value of outcome.values ?? []) if (fits(value)) put(value.key, value.text, value.ttlSeconds)
    return cooled
  }

  /** Counts a value under its meter. */
  function fits({ text, ttlSeconds, meter }: StoredValue): boolean {
    if (!meter) return true
    const known = state.meters.get(meter.key) ?? { used: 0, ends: at + milliseconds(ttlSeconds) }
    if (known.used + text.length > meter.most) return false
    known.used += text.length
    state.meters.set(meter.key, known, known.ends)
    return true
  }

  function renew(lease: Lease): void {
    const end = at + milliseconds(lease.leaseSeconds)
    for (const subject of lease.slots) {
      const entry = state.slots.entry(subject)
      if (!entry) continue
      entry.value.renew(lease.callId, at, end)
      entry.expiresAt = leasesExpireAt(at, end)
    }
    for (const { subject, holdNano } of lease.budgets) {
      state.budgets.get(subject)?.holds.renew(lease.callId, at, end, holdNano)
    }
    for (const { attemptId, deployment } of lease.attemptIds) {
      state.deployments.get(deployment)?.active.renew(attemptId, at, end)
    }
    if (lease.lead) renewLead(state, lease.lead, lease.callId, at)
  }

  function raise(spent: readonly BudgetSpent[]): readonly BudgetSpent[] {
    const short: BudgetSpent[] = []
    for (const one of spent) {
      const { subject, period, spentNano } = one
      const record = state.budgets.get(subject)
      if (!record || record.isUnread || record.period !== period) continue
      if (spentNano <= record.spent) record.shortSince = undefined
      else if (record.shortSince === undefined) {
        record.shortSince = at
        short.push(one)
      } else if (elapsedMs(record.shortSince, at) >= SHORT_MS) {
        record.spent = spentNano
        record.readAt = at
        record.shortSince = undefined
      } else {
        short.push(one)
        continue
      }
      state.budgets.set(subject, record, at + LIFETIME_MS.budget)
    }
    return short
  }

  function publish({ records, removed }: Change): boolean {
    for (const { record, version } of records) {
      if (version > (state.versions.get(record) ?? 0)) {
        state.versions.set(record, version, at + LIFETIME_MS.version)
      }
    }
    remove(removed)
    return true
  }

  function valuesOf(key: string) {
    if (key.startsWith(PROVIDER_IDS)) return state.providerIds
    if (key.startsWith(ANSWERS)) return state.answers
    if (key.startsWith(RESPONSES)) return state.responses
    if (key.startsWith(LEADS)) return state.leads
    return key.startsWith(CLEARINGS) ? state.clearings : state.values
  }

  function remove(keys: readonly Key[]): void {
    for (const key of keys) {
      if (key.startsWith(BUDGETS)) forgetBudget(state, key.slice(BUDGETS.length), at)
      else valuesOf(key).delete(key)
    }
  }

  const put = (key: string, value: string, ttlSeconds: number) =>
    valuesOf(key).set(key, value, at + milliseconds(ttlSeconds))

  /** A method that runs at one time, without interruption. */
  const verb =
    <Input extends unknown[], Output>(run: (...input: Input) => Output) =>
    async (...input: Input): Promise<Output> => {
      at = now()
      return run(...input)
    }

  return {
    admit(call) {
      at = now()
      return admit(state, call, at)
    },
    startAttempt: verb(startAttempt),
    settle,
    renew: verb(renew),
    raise: verb(raise),
    publish: verb(publish),
    stamp: verb((key, ttlSeconds) => put(key, String(at), ttlSeconds)),
    signals: verb((deployments) => deployments.map((name) => signalsOf(name, deployment(name), at))),
    standing: verb((limits) => standing(state, limits, at)),
    counters: async () => Object.fromEntries([...state.counters].filter(([field]) => isCounter(field))),
    entries: verb((log, limit) => (state.logs.get(log) ?? []).slice(0, limit)),
    get: verb((key) => valuesOf(key).get(key)),
    getAll: verb((keys) => keys.map((key) => valuesOf(key).get(key))),
    put: verb(put),
    putNew: verb((key, value, ttlSeconds) => {
      if (valuesOf(key).get(key) !== undefined) return false
      put(key, value, ttlSeconds)
      return true
    }),
    take: verb((key) => {
      const values = valuesOf(key)
      const value = values.get(key)
      values.delete(key)
      return value
    }),
    remove: verb((...keys) => remove(keys)),
    mode: () => 'local' as const,
    ping: async () => {},
    close: async () => {},
  }
}
