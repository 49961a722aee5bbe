import { entryOf, type JsonRecord } from '../lib/json/lenient.ts'

/** What becomes of a field of a request whose next reader speaks another dialect.
 *
 *  - `carried`: it says the same there, perhaps under another name.
 *  - `adapted`: what it asks for is expressed otherwise.
 *  - `hint`: it does not change the meaning of the answer (caching, storage, telemetry, speed, …). It is left out and
 *    named in `x-gateway-dropped`; a strict deployment or call refuses it.
 *  - `refused`: the answer would mean something else without it.
 *
 *  A field without a rule is refused, unless its dialect lets unknown fields travel. */
export interface FieldRule {
  readonly fate: 'carried' | 'adapted' | 'hint' | 'refused'
  /** Its name in the next dialect, if it is another. */
  readonly as?: string
  /** What is done to it, in words for the documentation. */
  readonly how?: string
  /** Values that ask for the default: they are left out and need no mention. */
  readonly neutral?: readonly unknown[]
}

export type FieldTable = Readonly<Record<string, FieldRule>>

/** Tells that a field was left out. */
export type Drop = (field: string) => void

export const carried = (as?: string): FieldRule => ({ fate: 'carried', ...(as === undefined ? {} : { as }) })
export const adapted = (how: string, as?: string): FieldRule => ({ ...carried(as), fate: 'adapted', how })
export const hint = (neutral: readonly unknown[] = []): FieldRule => ({ fate: 'hint', neutral })
export const refused = (neutral: readonly unknown[] = [], how?: string): FieldRule => ({
  fate: 'refused',
  neutral,
  ...(how === undefined ? {} : { how }),
})

/** Applies a table to the fields of a record: names its hints to `drop`, and those that have no place to `refuse`. */
export function applyTable(
  record: JsonRecord,
  table: FieldTable,
  { drop, refuse }: { readonly drop: Drop; readonly refuse: (field: string) => void },
): void {
  for (const field in record) {
    const value = record[field]
    if (!asksForSomething(value)) continue
    const rule = entryOf(table, field)
    if (rule?.fate === 'carried' || rule?.fate === 'adapted' || rule?.neutral?.includes(value)) continue
    if (rule?.fate === 'hint') drop(field)
    else refuse(field)
  }
}

/** Nothing, and empty lists and objects, ask for nothing. */
function asksForSomething(value: unknown): boolean {
  if (value === undefined || value === null) return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}

/** A table whose fields are members of `place`. */
export function prefixed(place: string, table: FieldTable): FieldTable {
  return Object.fromEntries(Object.entries(table).map(([field, rule]) => [`${place}.${field}`, rule]))
}

/** The names of a dialect's fields, by their names in the next dialect. Of two with one name, the first counts. */
export function clientNames(table: FieldTable): Readonly<Record<string, string>> {
  const named = Object.entries(table).flatMap(([field, { as }]) => (as === undefined ? [] : [[as, field] as const]))
  return Object.fromEntries(named.reverse())
}

/** The fields of a record that no rule is about: they travel on. */
export function unruled(record: JsonRecord, table: FieldTable): JsonRecord {
  return Object.fromEntries(Object.entries(record).filter(([field]) => entryOf(table, field) === undefined))
}
