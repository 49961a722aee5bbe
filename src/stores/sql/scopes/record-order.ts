import { type RawBuilder, sql } from 'kysely'
import { currentSpend } from './current-spend.ts'

/** The orders of lists of records. Ids and names ascend; times and spend descend. */
export const RECORD_ORDERS = ['id', 'name', 'created_at', 'spend', 'last_used_at'] as const
export type RecordOrder = (typeof RECORD_ORDERS)[number]

/** The last record of a page. */
export interface RecordPosition {
  /** The record's `order_value`. */
  readonly value: string
  readonly id: string
}

/** Parts of a statement that lists the rows `record`. */
export interface OrderParts {
  readonly joins: RawBuilder<unknown>
  /** The condition for records that have a value to be ordered by. */
  readonly holds?: RawBuilder<unknown>
  /** The expression for `order_value`, a text. */
  readonly value: RawBuilder<unknown>
  readonly by: RawBuilder<unknown>
  /** The condition for rows behind a position. */
  after(position: RecordPosition): RawBuilder<unknown>
  /** The condition for records without a value. They come last, by descending id, with the value `NOTHING`. */
  readonly without?: RawBuilder<unknown>
}

export const NOTHING = '0'

export interface OrderedTable {
  readonly level: string
  readonly id: string
  /** The column with what people call a record. */
  readonly name: string
}

/** Every order has an index with the same expression, so that a page costs the same for any number of records. */
export function orderParts(order: Exclude<RecordOrder, 'id'>, { level, id, name }: OrderedTable): OrderParts {
  const key = sql.id('record', id)
  if (order === 'name') {
    const value = sql`left(lower(coalesce(${sql.id('record', name)}, ${key})), 200) COLLATE "C"`
    return {
      joins: sql``,
      value,
      by: sql`${value}, ${key}`,
      after: (position) => sql`(${value}, ${key}) > (${position.value}, ${position.id})`,
    }
  }
  if (order === 'spend') {
    const { joined, indexed, holds, none } = currentSpend(level, id)
    return {
      joins: joined,
      holds: sql`${indexed} AND ${holds}`,
      value: sql`budget.spent_nano::text`,
      by: sql`budget.spent_nano DESC, ${key} DESC`,
      after: (position) => sql`(budget.spent_nano, ${key}) < (${position.value}::numeric, ${position.id})`,
      without: none,
    }
  }
  if (order === 'created_at') return { joins: sql``, ...byTime(sql`record.created_at`, key) }
  return {
    joins: sql`JOIN gateway_key_use AS used ON used.key_id = ${key}`,
    ...byTime(sql`used.last_used_at`, sql`used.key_id`),
    without: sql`NOT EXISTS (SELECT FROM gateway_key_use AS used WHERE used.key_id = ${key})`,
  }
}

/** A time in microseconds, the precision of the database. */
function byTime(time: RawBuilder<unknown>, key: RawBuilder<unknown>): Pick<OrderParts, 'value' | 'by' | 'after'> {
  return {
    value: sql`(extract(epoch FROM ${time}) * 1000000)::bigint::text`,
    by: sql`${time} DESC, ${key} DESC`,
    after: (position) => sql`
      (${time}, ${key}) < (timestamptz 'epoch' + ${position.value}::float8 * interval '1 microsecond', ${position.id})`,
  }
}
