import type { Cached, CacheLookup } from '../../../src/stores/kv/answer-cache.ts'
import type {
  Admission,
  Budget,
  Change,
  Lease,
  Quota,
  QuotaStates,
  RecordVersion,
  Settlement,
} from '../../../src/stores/kv/shared-store.ts'
import type { BudgetSpent } from '../../../src/stores/sql/records/budget-records.ts'

const HOUR = 3_600_000
const LENGTH = { minute: 60_000, hour: HOUR, day: 24 * HOUR } as const
/** How long a settlement is known to have been. */
const SETTLED_MS = HOUR

interface Held {
  readonly callId: string
  readonly subject: string
  readonly amount: number
  ends: number
}

interface State {
  readonly used: number
  readonly resetsAt: number
  readonly cost: number
}

const told = (states: readonly Omit<State, 'cost'>[]): QuotaStates => ({
  used: states.map(({ used }) => used),
  resetsAt: states.map(({ resetsAt }) => resetsAt),
})

/** What the shared store promises of limits, slots, budgets and versions, said once more as plainly as possible: it keeps
 *  everything that ever happened, and works out the rest each time. */
export function tinyModel(now: () => number) {
  const versions: RecordVersion[] = []
  const hits: { readonly counter: string; readonly at: number; readonly cost: number }[] = []
  let slots: Held[] = []
  let holds: Held[] = []
  const budgets = new Map<
    string,
    { period: string; since?: string | undefined; spent: number; readAt: number; shortSince?: number }
  >()
  const settled = new Map<string, number>()
  const texts = new Map<string, string>()
  const clearedAt = new Map<string, number>()
  const leads = new Map<string, { from: number; ends: number; callId: string }>()

  const versionOf = (record: string) =>
    Math.max(0, ...versions.filter((one) => one.record === record).map(({ version }) => version))

  function window({ subject, unit, window }: Quota): { used: number; ends: number } {
    const counter = `${subject} ${unit} ${window}`
    const fresh = (at: number) => {
      const length = LENGTH[window]
      return { used: 0, ends: window === 'minute' ? at + length : (Math.floor(at / length) + 1) * length }
    }
    let current = { used: 0, ends: Number.NEGATIVE_INFINITY }
    for (const hit of hits.filter((one) => one.counter === counter)) {
      if (hit.at >= current.ends) current = fresh(hit.at)
      current.used += hit.cost
    }
    return now() >= current.ends ? fresh(now()) : current
  }

  const living = (list: readonly Held[], subject: string) =>
    list.filter((one) => one.subject === subject && one.ends > now())
  const sum = (list: readonly Held[]) => list.reduce((total, { amount }) => total + amount, 0)

  function place(list: readonly Held[], held: Held): Held[] {
    const same = (one: Held) => one.callId === held.callId && one.subject === held.subject && one.amount === held.amount
    return [...list.filter((one) => !same(one)), held]
  }

  const isYetToBegin = (period: string) => period.includes('T') && Date.parse(period) > now()

  /** What is known of a budget, unless it is of a period that is yet to begin, for a call of an earlier one, or of one that
   *  had the same name. */
  function knownOf({ subject, period, since = '' }: Pick<Budget, 'subject' | 'period' | 'since'>) {
    const known = budgets.get(subject)
    if (known?.since !== undefined && period === known.period && since > known.since) return undefined
    return known && period < known.period && isYetToBegin(known.period) ? undefined : known
  }

  function spentOf(budget: Budget): number {
    const known = knownOf(budget)
    return !known || budget.period > known.period ? (budget.seedNano ?? 0) : known.spent
  }

  /** What still counts of the holds of a budget: those that were made in an earlier period, that period pays. */
  function heldOf(budget: Budget): Held[] {
    const known = knownOf(budget)
    const begins = known && budget.period > known.period && !isYetToBegin(budget.period)
    return begins ? [] : living(holds, budget.subject)
  }

  function admit(call: Admission): object {
    const records = call.versions.filter(({ record, version, remembered }) => {
      const lost =
        remembered === true && version > 0 && !versions.some((one) => one.record === record && one.version > 0)
      return lost || versionOf(record) > version
    })
    const unknown = call.budgets.filter((one) => {
      const known = knownOf(one)
      const isOther = known && (one.period < known.period || (one.period > known.period && isYetToBegin(one.period)))
      return one.seedNano === undefined && (!known || isOther)
    })
    if (records.length + unknown.length > 0) {
      const subjects = unknown.map(({ subject }) => subject)
      return { kind: 'stale', now: now(), records: records.map(({ record }) => record), budgets: subjects }
    }
    const states = call.quotas.map((quota): State => {
      const { used, ends } = window(quota)
      return { used, resetsAt: ends, cost: quota.unit === 'tokens' ? call.tokens : 1 }
    })
    const refuse = (reason: string, { scope, subject }: { scope: string; subject: string }, resetsAt?: number) => ({
      kind: 'refused',
      now: now(),
      reason,
      scope,
      subject,
      resetsAt,
      quotas: told(states),
    })
    for (const [at, quota] of call.quotas.entries()) {
      const { used, resetsAt, cost } = states[at] as State
      if (quota.limit === 0 || used + cost > quota.limit) return refuse('quota', quota, resetsAt)
    }
    for (const slot of call.slots) {
      if (living(slots, slot.subject).filter(({ callId }) => callId !== call.callId).length >= slot.limit)
        return refuse('slot', slot)
    }
    const cached = call.cache && lookUp(call.cache, call.callId)
    const free = cached?.state === 'hit' || cached?.state === 'follow'
    for (const budget of call.budgets) {
      const spentNano = spentOf(budget)
      if (free && spentNano >= budget.limitNano) return { ...refuse('budget', budget), spentNano }
    }
    for (const budget of free ? [] : call.budgets) {
      const { limitNano, holdNano, likelyNano = holdNano, ownNano = [] } = budget
      const held = heldOf(budget)
      const own = held.filter(
        ({ callId, amount }) => callId === call.callId && (amount === holdNano || ownNano.includes(amount)),
      )
      const others = held.filter((one) => !own.includes(one))
      const owed = spentOf(budget) + sum(others)
      const kept = own.filter(({ amount }) => amount !== holdNano)
      const needs = sum(others) > 0 ? sum(kept) + holdNano : likelyNano
      if (owed >= limitNano || owed + needs > limitNano) {
        return { ...refuse('budget', budget), spentNano: spentOf(budget) }
      }
    }

    const spentNano = call.budgets.map(spentOf)
    const ends = now() + 1000 * call.leaseSeconds
    versions.push(...call.versions)
    for (const [at, { subject, unit, window }] of call.quotas.entries()) {
      const { cost } = states[at] as State
      hits.push({ counter: `${subject} ${unit} ${window}`, at: now(), cost })
    }
    const quotas = told(states.map(({ used, cost, resetsAt }) => ({ used: used + cost, resetsAt })))
    const decided = { kind: 'admitted', now: now(), quotas, spentNano, ...(cached ? { cached } : {}) }
    if (free) return decided
    if (call.cache && cached?.state === 'lead') {
      const { lead, leadSeconds } = call.cache
      leads.set(lead, { from: now(), ends: now() + 1000 * leadSeconds, callId: call.callId })
    }
    for (const { subject } of call.slots) slots = place(slots, { callId: call.callId, subject, amount: 0, ends })
    for (const [at, budget] of call.budgets.entries()) {
      const { subject, holdNano, period, since } = budget
      const known = knownOf(budget)
      const latest = known && known.period > period ? known.period : period
      const kept = heldOf(budget)
      holds = holds.filter((one) => one.subject !== subject || kept.includes(one))
      budgets.set(subject, { ...(known ?? { readAt: now(), since }), period: latest, spent: spentNano[at] ?? 0 })
      if (holdNano > 0) holds = place(holds, { callId: call.callId, subject, amount: holdNano, ends })
    }
    return decided
  }

  function lookUp({ answers, clearings, maxAgeSeconds, lead }: CacheLookup, callId: string): Cached {
    const cleared = Math.max(0, ...clearings.map((key) => clearedAt.get(key) ?? 0))
    const found = answers.map((key) => {
      const text = texts.get(key)
      const at = Number(/^(\d+)\|/.exec(text ?? '')?.[1] ?? 0)
      return at > cleared && now() - at < 1000 * maxAgeSeconds ? text : undefined
    })
    if (found.every((text) => text !== undefined)) return { state: 'hit', answers: found }
    const mark = leads.get(lead)
    const isOther = mark && mark.from > cleared && mark.ends > now() && mark.callId !== callId
    if (!isOther) return { state: 'lead', answers: found }
    return mark.callId === '' ? { state: 'alone', answers: found } : { state: 'follow', answers: [] }
  }

  function settle(outcome: Settlement): void {
    const { callId, id = callId, lateMs = 0, slots: freed, budgets: billed, lead, values = [] } = outcome
    const repeated = (settled.get(id) ?? Number.NEGATIVE_INFINITY) > now()
    if (!repeated) settled.set(id, now() + SETTLED_MS)
    for (const { key, text, meter } of repeated ? [] : values) {
      const used = Number(meter ? (texts.get(meter.key) ?? 0) : 0) + text.length
      if (meter && used > meter.most) continue
      if (meter) texts.set(meter.key, String(used))
      texts.set(key, text)
    }
    const led = lead && leads.get(lead.key)
    if (lead && led?.callId === callId && led.ends > now()) {
      if (lead.unkeptSeconds === 0) leads.delete(lead.key)
      else leads.set(lead.key, { from: now(), ends: now() + 1000 * lead.unkeptSeconds, callId: '' })
    }
    slots = slots.filter((one) => one.callId !== callId || !freed.includes(one.subject))
    for (const { subject, period, since, holdNano, spentNano } of billed) {
      const known = budgets.get(subject)
      if (!known) continue
      holds = holds.filter((one) => one.callId !== callId || one.subject !== subject || one.amount !== holdNano)
      if (repeated || (lateMs > 0 && known.readAt > now() - lateMs)) continue
      if (known.since !== undefined && known.since !== since) continue
      if (period > known.period) {
        if (!isYetToBegin(period)) budgets.set(subject, { ...known, period, spent: spentNano })
      } else if (period === known.period) known.spent += spentNano
    }
  }

  function renew(lease: Lease): void {
    const ends = now() + 1000 * lease.leaseSeconds
    const prolong = (one: Held) => {
      if (one.ends > now()) one.ends = Math.max(one.ends, ends)
    }
    for (const one of slots) if (one.callId === lease.callId && lease.slots.includes(one.subject)) prolong(one)
    const mark = lease.lead && leads.get(lease.lead.key)
    if (lease.lead && mark?.callId === lease.callId && mark.ends > now()) {
      mark.ends = Math.max(mark.ends, now() + 1000 * lease.lead.seconds)
    }
    for (const { subject, holdNano } of lease.budgets) {
      for (const one of holds) {
        if (one.callId === lease.callId && one.subject === subject && one.amount === holdNano) prolong(one)
      }
    }
  }

  function raise(all: readonly BudgetSpent[]): void {
    for (const { subject, period, spentNano } of all) {
      const known = budgets.get(subject)
      if (known?.period !== period) continue
      const { shortSince, ...rest } = known
      if (spentNano <= known.spent) budgets.set(subject, rest)
      else if (shortSince === undefined) budgets.set(subject, { ...rest, shortSince: now() })
      else if (now() - shortSince >= 3000)
        budgets.set(subject, { period, since: known.since, spent: spentNano, readAt: now() })
    }
  }

  const stamp = (key: string) => void clearedAt.set(key, now())
  return { admit, settle, renew, raise, stamp, publish: ({ records }: Change) => void versions.push(...records) }
}
