import { type Counters, ENDS, noCounters } from '../in-process/counters.ts'
import { type DeploymentState, restoredDeployment, writtenDeployment } from '../in-process/deployment-state.ts'
import { createLeases, type Leases, type WrittenLease } from '../in-process/leases.ts'
import { recentIds } from '../in-process/recent-ids.ts'
import { type BudgetRecord, type Counter, MOST_SETTLED, type State, type Texts } from '../in-process/state.ts'
import { LIFETIME_MS } from '../keys.ts'
import { keptCounters } from './kept-counters.ts'
import { type Form, type KeptMap, keptMap } from './kept-map.ts'
import { MOST_SWEPT, type Rows, rows, type SqlStorage } from './rows.ts'

/** The state of the in-process store in a Durable Object, which survives the process: counts of calls stay in memory
 *  and are written soon after; values by key are written at once. */
export interface KeptState {
  readonly state: State
  /** Writes what has changed. */
  write(): void
  /** Removes expired rows, so many at once at most; true: there may be more. */
  sweep(): boolean
}

/** `noted` is called with every change that `write` has to write. */
export function keptState(sql: SqlStorage, now: () => number, noted: () => void): KeptState {
  const records = rows(sql, 'kept_record', 'scan')
  const texts = rows(sql, 'kept_text', 'index')
  const settled = keptIds(sql, now, noted)
  const counters = keptCounters(records)
  const maps: KeptMap<never>[] = []
  function map<Value>(prefix: string, form: Form<Value>): KeptMap<Value> {
    const made = keptMap(records, prefix, now, noted, form)
    maps.push(made as KeptMap<never>)
    return made
  }
  const state: State = {
    versions: map('version:', PLAIN as Form<number>),
    quotas: map('quota:', QUOTAS),
    countedQuotas: NEVER_AGAIN,
    slots: map('slots:', LEASES),
    budgets: map('budget:', BUDGET),
    deployments: map('deployment:', DEPLOYMENT),
    settled,
    logs: map('log:', PLAIN as Form<string[]>),
    values: keptTexts(texts, now),
    providerIds: keptTexts(texts, now),
    answers: keptTexts(texts, now),
    responses: keptTexts(texts, now),
    meters: map('meter:', PLAIN),
    // Both change with calls that the cache may answer, which should not wait for a disk.
    leads: map('lead:', PLAIN as Form<string>),
    clearings: map('clearing:', PLAIN as Form<string>),
    counters: counters.counters,
  }
  return {
    state,
    write() {
      for (const one of maps) one.write()
      settled.write()
      counters.write()
    },
    sweep() {
      return [records.sweep(now()), texts.sweep(now()), settled.sweep()].includes(true)
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: what is plain is written as it is.
const PLAIN: Form<any> = { written: (value) => value, read: (written) => written }

/** Each question brings lists of its own. */
const NEVER_AGAIN: State['countedQuotas'] = { get: () => undefined, set() {} }

/** By unit and window, of which most have no counter: JSON has null for those. */
const QUOTAS: Form<Counters> = {
  written: (counters) =>
    Array.from({ length: ENDS }, (_, at) => {
      const ends = counters[ENDS + at]
      return ends ? { used: counters[at], ends } : null
    }),
  read(written) {
    const counters = noCounters()
    for (const [at, counter] of (written as (Counter | null)[]).entries()) {
      if (!counter) continue
      counters[at] = counter.used
      counters[ENDS + at] = counter.ends
    }
    return counters
  },
}

const LEASES: Form<Leases> = {
  written: (leases) => leases.written(),
  read: (written) => createLeases(written as readonly WrittenLease[]),
}

const BUDGET: Form<BudgetRecord> = {
  // The id of a hold is written with its amount.
  written: ({ holds, ...rest }) => ({
    ...rest,
    holds: holds.written().map(([id, end, amount]) => [`${id}|${amount}`, end, amount]),
  }),
  read(written) {
    const { holds, ...rest } = written as Omit<BudgetRecord, 'holds'> & { holds: readonly WrittenLease[] }
    const read = holds.map(([id, end, amount]): WrittenLease => [id.slice(0, id.lastIndexOf('|')), end, amount])
    return { ...rest, readAt: rest.readAt ?? 0, holds: createLeases(read) }
  },
}

const DEPLOYMENT: Form<DeploymentState> = { written: writtenDeployment, read: restoredDeployment }

/** Texts that are read and written at once. */
function keptTexts(texts: Rows, now: () => number): Texts {
  return {
    get(key) {
      const row = texts.get(key)
      return row && row.ends > now() ? row.text : undefined
    },
    set: (key, text, expiresAt) => texts.put(key, { text, ends: expiresAt }),
    delete: (key) => texts.delete(key),
  }
}

/** As many of the last settled ids as are kept in memory, the oldest first. Two hours of many calls a second have far more,
 *  and no call is answered before they are read. */
function newest(sql: SqlStorage): [id: string, at: number][] {
  const rows: [id: string, at: number][][] = []
  let size = 0
  for (const { ids } of sql.exec('SELECT ids FROM kept_settled ORDER BY rowid DESC')) {
    const row = JSON.parse(ids as string)
    rows.push(row)
    size += row.length
    if (size >= MOST_SETTLED) break
  }
  return rows.reverse().flat()
}

/** Ids of settled calls. Each write is one row, whatever number of them it has. */
function keptIds(sql: SqlStorage, now: () => number, noted: () => void) {
  sql.exec('CREATE TABLE IF NOT EXISTS kept_settled (at INTEGER NOT NULL, ids TEXT NOT NULL)')
  const ids = recentIds(MOST_SETTLED, LIFETIME_MS.settled)
  for (const [id, at] of newest(sql)) ids.add(id, at)
  let unwritten: [id: string, at: number][] = []
  return {
    add(id: string, at: number): boolean {
      if (!ids.add(id, at)) return false
      unwritten.push([id, at])
      noted()
      return true
    },
    write() {
      if (unwritten.length === 0) return
      sql.exec('INSERT INTO kept_settled (at, ids) VALUES (?, ?)', now(), JSON.stringify(unwritten))
      unwritten = []
    },
    sweep() {
      const swept = sql.exec(
        `DELETE FROM kept_settled WHERE rowid IN (SELECT rowid FROM kept_settled WHERE at <= ? LIMIT ${MOST_SWEPT})
         RETURNING at`,
        now() - LIFETIME_MS.settled,
      )
      return [...swept].length === MOST_SWEPT
    },
  }
}
