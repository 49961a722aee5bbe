import { type Selectable, sql } from 'kysely'
import { queries, rowsOf } from './query.ts'
import type { Schema } from './schema/schema.ts'
import type { Sql } from './sql.ts'
import { keepable } from './storable-text.ts'

/** A record that the database refused, with the reason of the last attempt. */
export type DeadLetter = Selectable<Schema['gateway_dead_letter']>

/** Which of them, undefined for all: of a topic, and from before a moment. */
export interface LettersWithin {
  readonly topic?: string | undefined
  readonly diedBefore?: string | undefined
}

/** Records that were refused, until they are written after all. */
export interface DeadLetterRecords {
  /** Keeps a record; the same one is kept once. Resolves with false if it is too large, or too many are kept. */
  keep(topic: string, body: object, error: string): Promise<boolean>
  /** The oldest first, after the cursor. */
  page(page: {
    readonly cursor: string
    readonly limit: number
    readonly within?: LettersWithin
  }): Promise<DeadLetter[]>
  withIds(ids: readonly string[]): Promise<DeadLetter[]>
  count(): Promise<number>
  /** Resolves with the removed one; undefined if there is none. */
  remove(letterId: string): Promise<DeadLetter | undefined>
  /** Removes all of them, and resolves with their ids, oldest first. */
  removeAll(within: LettersWithin): Promise<string[]>
  /** Notes why it was refused once more. */
  refusedAgain(letterId: string, error: string): Promise<void>
}

const MOST_LETTERS = 5000
/** More than any message of a queue holds. */
const LONGEST_BODY = 128 * 1024
const LONGEST_ERROR = 500

const shortened = (error: string) => keepable(error, LONGEST_ERROR)

const isWithin = ({ topic, diedBefore }: LettersWithin) =>
  sql<boolean>`(${topic ?? null}::text IS NULL OR topic = ${topic ?? null})
    AND (${diedBefore ?? null}::timestamptz IS NULL OR died_at < ${diedBefore ?? null}::timestamptz)`

export function deadLetterRecords(database: Sql): DeadLetterRecords {
  return {
    async keep(topic, body, error) {
      const text = JSON.stringify(body)
      if (text.length > LONGEST_BODY) return false
      const [found] = await rowsOf(
        database,
        sql<{ kept: boolean }>`
          WITH letter AS (
            SELECT 'letter_' || left(encode(sha256(convert_to(${topic} || ' ' || ${text}, 'UTF8')), 'hex'), 32) AS id
          ), held AS (
            INSERT INTO gateway_dead_letter (letter_id, topic, body, error)
            SELECT id, ${topic}, ${text}::json, ${shortened(error)} FROM letter
            WHERE (SELECT count(*) FROM gateway_dead_letter) < ${MOST_LETTERS}
              OR EXISTS (SELECT FROM gateway_dead_letter WHERE letter_id = id)
            -- Changes nothing, but returns the row that another process has just added, too.
            ON CONFLICT (letter_id) DO UPDATE SET topic = excluded.topic RETURNING letter_id
          )
          SELECT EXISTS (SELECT FROM held) AS kept`,
      )
      return found?.kept === true
    },

    page({ cursor, limit, within = {} }) {
      const all = queries.selectFrom('gateway_dead_letter').selectAll().where(isWithin(within))
      const [at, id] = cursor.split('~')
      const after =
        cursor === '' ? all : all.where(sql<boolean>`(died_at, letter_id) > (${at}::timestamptz, ${id ?? ''}::text)`)
      return rowsOf(database, after.orderBy('died_at').orderBy('letter_id').limit(limit))
    },

    withIds: (ids) =>
      rowsOf(
        database,
        queries
          .selectFrom('gateway_dead_letter')
          .selectAll()
          .where('letter_id', '=', sql<string>`ANY(${ids}::text[])`)
          .orderBy('died_at')
          .orderBy('letter_id'),
      ),

    async count() {
      const counting = sql<{ letters: number }>`SELECT count(*)::int AS letters FROM gateway_dead_letter`
      return (await rowsOf(database, counting))[0]?.letters ?? 0
    },

    async remove(letterId) {
      const one = queries.deleteFrom('gateway_dead_letter').where('letter_id', '=', letterId).returningAll()
      return (await rowsOf(database, one))[0]
    },

    async removeAll(within) {
      const all = queries.deleteFrom('gateway_dead_letter').where(isWithin(within)).returning(['letter_id', 'died_at'])
      const removed = await rowsOf(database, all)
      return removed.sort((a, b) => (a.died_at < b.died_at ? -1 : 1)).map(({ letter_id }) => letter_id)
    },

    async refusedAgain(letterId, error) {
      await rowsOf(
        database,
        queries
          .updateTable('gateway_dead_letter')
          .set({ error: shortened(error) })
          .where('letter_id', '=', letterId),
      )
    },
  }
}
