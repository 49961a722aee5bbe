import { mistake } from '../../../config/accepted.ts'
import { parseList } from '../../../lib/json/lenient.ts'
import type { RecordOrder, RecordPosition } from '../../../stores/sql/scopes/record-order.ts'
import { isStorable } from '../../storable.ts'

/** The cursor behind a record: its id, preceded by the value that the list is ordered by, where that is another. */
export function cursorOf(order: RecordOrder, value: string, id: string): string {
  return order === 'id' ? id : JSON.stringify([value, id])
}

/** The position that a cursor names. */
export function positionAt(order: RecordOrder, cursor: string): RecordPosition | undefined {
  if (cursor === '') return undefined
  if (order === 'id') return { value: cursor, id: cursor }
  const [value, id, ...more] = parseList(cursor)
  if (!isText(value) || !isText(id) || more.length > 0 || !VALUES[order].test(value)) {
    throw mistake('cursor', 'is not the next_cursor of a page in this order')
  }
  return { value, id }
}

/** The values that lists are ordered by: texts, nano-dollars, and microseconds since 1970. */
const VALUES: Readonly<Record<Exclude<RecordOrder, 'id'>, RegExp>> = {
  name: /^/,
  spend: /^\d{1,30}$/,
  created_at: /^\d{1,17}$/,
  last_used_at: /^\d{1,17}$/,
}

/** JSON can write texts that the database cannot be asked for. */
const isText = (value: unknown): value is string => typeof value === 'string' && isStorable(value)
