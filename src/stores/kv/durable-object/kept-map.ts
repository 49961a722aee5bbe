import type { Entry, ExpiringMap } from '../in-process/expiring-map.ts'
import type { Rows } from './rows.ts'

/** Converts a value to the text of its row and back. */
export interface Form<Value> {
  written(value: Value): unknown
  read(written: unknown): Value
}

/** An expiring map over rows. An entry is read at its first use; `write` writes all changes. */
export interface KeptMap<Value> extends ExpiringMap<Value> {
  /** Writes the entries that may have changed since the last time. */
  write(): void
}

interface KeptEntry<Value> extends Entry<Value> {
  /** As its row has it; '' without a row. */
  text: string
  rowEnds: number
}

/** Beyond this many entries memory is given back after a write: rows have them all. */
const MOST_IN_MEMORY = 10_000

/** `prefix` separates its names from those of other maps over the same rows. `noted` is called with every change that
 *  has to be written. */
export function keptMap<Value>(
  rows: Rows,
  prefix: string,
  now: () => number,
  noted: () => void,
  { written, read }: Form<Value>,
): KeptMap<Value> {
  let entries = new Map<string, KeptEntry<Value>>()
  /** Names that may differ from their rows. One without an entry has been removed. */
  const unwritten = new Set<string>()

  function note(key: string): void {
    unwritten.add(key)
    noted()
  }

  function entryOf(key: string): KeptEntry<Value> | undefined {
    const known = entries.get(key)
    if (known || unwritten.has(key)) return known
    const row = rows.get(prefix + key)
    if (!row) return undefined
    const entry = { value: read(JSON.parse(row.text)), expiresAt: row.ends, text: row.text, rowEnds: row.ends }
    entries.set(key, entry)
    return entry
  }

  function writeOne(key: string, entry: KeptEntry<Value> | undefined): void {
    if (!entry) {
      rows.delete(prefix + key)
      return
    }
    const { value, expiresAt, rowEnds } = entry
    const text = JSON.stringify(written(value))
    // Every use prolongs a life of hours: its row may be behind by half of that.
    if (text === entry.text && expiresAt >= rowEnds && expiresAt - rowEnds <= (expiresAt - now()) / 2) return
    rows.put(prefix + key, { text, ends: expiresAt })
    entry.text = text
    entry.rowEnds = expiresAt
  }

  function put(key: string, value: Value, expiresAt: number): Entry<Value> {
    const entry = entryOf(key)
    note(key)
    if (entry) {
      entry.value = value
      entry.expiresAt = expiresAt
      return entry
    }
    const made = { value, expiresAt, text: '', rowEnds: 0 }
    entries.set(key, made)
    return made
  }

  return {
    get(key) {
      const entry = entryOf(key)
      if (!entry || entry.expiresAt <= now()) return undefined
      // The caller may change an object that it gets.
      if (typeof entry.value === 'object') note(key)
      return entry.value
    },
    entry(key) {
      const entry = entryOf(key)
      if (!entry || entry.expiresAt <= now()) return undefined
      note(key)
      return entry
    },
    set: (key, value, expiresAt) => void put(key, value, expiresAt),
    put,
    delete(key) {
      entries.delete(key)
      note(key)
    },
    get size() {
      return entries.size
    },
    write() {
      for (const key of unwritten) writeOne(key, entries.get(key))
      unwritten.clear()
      if (entries.size > MOST_IN_MEMORY) entries = new Map()
    },
  }
}
