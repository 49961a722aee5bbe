import { type RawBuilder, sql } from 'kysely'
import { joinedSpend } from './current-spend.ts'

/** What a list of records can go by. Names ascend; what was made, used or spent last or most comes first. */
export const RECORD_ORDERS = ['id', 'name', 'created_at', 'spend', 'last_used_at'] as const
export type RecordOrder = (typeof RECORD_ORDERS)[number]

/** The last record of a page. */
export interface RecordPosition {
  /** What the list goes by, as `order_value` of the record tells it. */
  readonly value: string
  readonly id: string
}

/** Parts of a statement that lists the rows `record`. */
export interface OrderParts {
  readonly joins: RawBuilder<unknown>
  /** Text that is told as `order_value`. */
  readonly value: RawBuilder<unknown>
  readonly by: RawBuilder<unknown>
  /** Of the rows behind a position. */
  after(position: RecordPosition): RawBuilder<unknown>
}

export interface OrderedTable {
  readonly level: string
  readonly id: string
  /** The column with what people call a record. */
  readonly name: string
}

const milliseconds = (time: RawBuilder<unknown>) => sql`coalesce(floor(date_part('epoch', ${time}) * 1000), 0)::bigint`

export function orderParts(order: Exclude<RecordOrder, 'id'>, { level, id, name }: OrderedTable): OrderParts {
  const key = sql.id('record', id)
  if (order === 'name') {
    const value = sql`lower(coalesce(${sql.id('record', name)}, ${key})) COLLATE "C"`
    return {
      joins: sql``,
      value,
      by: sql`${value}, ${key}`,
      after: (position) => sql`(${value}, ${key}) > (${position.value}, ${position.id})`,
    }
  }
  const joins =
    order === 'spend'
      ? joinedSpend(level, id)
      : order === 'last_used_at'
        ? sql`LEFT JOIN gateway_key_use AS used ON used.key_id = ${key}`
        : sql``
  const value =
    order === 'spend'
      ? sql`spent.nano`
      : milliseconds(order === 'created_at' ? sql`record.created_at` : sql`used.last_used_at`)
  return {
    joins,
    value: sql`(${value})::text`,
    by: sql`${value} DESC, ${key} DESC`,
    after: (position) => sql`(${value}, ${key}) < (${position.value}::numeric, ${position.id})`,
  }
}
