import { sql } from 'kysely'
import type { Seal } from '../../lib/sealing/seal.ts'
import { batchOf, type Query, queries, rowsOf } from './query.ts'
import { SEALED_UNDER } from './schema/same-salt.ts'
import { SEALED_COLUMNS, type SealedColumn, sealedBy } from './schema/sealed-columns.ts'
import type { Sql } from './sql.ts'

/** The context that a row's text is sealed with, for each table of sealed texts. */
export type SealedPlaces = Readonly<Record<SealedColumn['table'], (row: SealedRow) => string>>
export type SealedRow = Readonly<Record<string, unknown>>

export interface Resealed {
  readonly resealed: number
  /** Texts that no key opens, since theirs is lost. They stay as they are. */
  readonly unreadable: number
  /** No text in the database needs the former key any more. */
  readonly isOver: boolean
}

const ROWS_A_STEP = 100

/** Seals anew what a former key has sealed. Every text is replaced by one statement that finds it unchanged, so that any
 *  number of processes may do it at once, each may end at any time, and no later change is lost. `goOn` is asked between
 *  steps of 100 texts. */
export function resealing(
  database: Sql,
  { seal, places, former, mark }: { seal: Seal; places: SealedPlaces; former: string; mark: string },
): (goOn: () => boolean) => Promise<Resealed> {
  async function step(column: SealedColumn, after: string) {
    const { table, id, sealed, beside } = column
    const rows = await rowsOf<SealedRow>(
      database,
      sql`
        SELECT ${sql.join([id, sealed, ...beside].map((name) => sql.ref(name)))} FROM ${sql.table(table)}
        WHERE ${sealedBy(column, former)} AND ${sql.ref(id)} > ${after} ORDER BY ${sql.ref(id)} LIMIT ${ROWS_A_STEP}`,
    )
    const outcomes = await Promise.allSettled(rows.map((row) => anew(column, row)))
    const replacing = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    const replaced = replacing.length > 0 ? await batchOf<unknown[]>(database, replacing) : []
    return {
      resealed: replaced.filter((found) => found.length > 0).length,
      unreadable: rows.length - replacing.length,
      missed: replaced.filter((found) => found.length === 0).length,
      next: rows.length < ROWS_A_STEP ? undefined : String(rows.at(-1)?.[id]),
    }
  }

  async function anew({ table, id, sealed }: SealedColumn, row: SealedRow): Promise<Query<unknown>> {
    const place = places[table](row)
    const fresh = await seal.close(await seal.open(String(row[sealed]), place), place)
    return sql`
      UPDATE ${sql.table(table)} SET ${sql.ref(sealed)} = ${fresh}
      WHERE ${sql.ref(id)} = ${row[id]} AND ${sql.ref(sealed)} = ${row[sealed]} RETURNING ${sql.ref(id)}`
  }

  return async (goOn) => {
    const sums = { resealed: 0, unreadable: 0, missed: 0 }
    for (const column of SEALED_COLUMNS) {
      for (let after: string | undefined = ''; after !== undefined; ) {
        if (!goOn()) return { ...sums, isOver: false }
        const done = await step(column, after)
        sums.resealed += done.resealed
        sums.unreadable += done.unreadable
        sums.missed += done.missed
        after = done.next
      }
    }
    // What a process with the former key has sealed meanwhile is found by the next run.
    const isOver = sums.missed === 0
    if (isOver) {
      await rowsOf(
        database,
        queries.updateTable('gateway_installation').set({ value: mark }).where('name', '=', SEALED_UNDER),
      )
    }
    return { ...sums, isOver }
  }
}
