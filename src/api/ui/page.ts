import * as z from 'zod'
import { lazily } from '../../lib/lazily.ts'
import { storable } from '../storable.ts'

const MOST = 200
/** A cursor may hold a name, and JSON writes one of its characters with six. */
const LONGEST_CURSOR = 4096

/** The parameters of a list, in addition to its filters. */
export const paging = lazily(() => ({
  cursor: storable().max(LONGEST_CURSOR).default('').describe('`next_cursor` of the page before.'),
  limit: z.coerce.number().int().min(1).max(MOST).default(50),
}))

/** The answer of a list. */
export const pageAnswer = <Row extends z.ZodType>(
  row: () => Row,
  description = 'One page.',
  more: () => z.core.$ZodLooseShape = () => ({}),
) => ({
  description,
  schema: () => z.object({ data: z.array(row()), next_cursor: z.string().nullable(), ...more() }),
})

/** A page of `limit` rows. One more was read, to know whether another page follows. */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (last: Row) => string,
): { readonly data: readonly Row[]; readonly next_cursor: string | null } {
  const data = rows.slice(0, limit)
  const last = rows.length > limit ? data.at(-1) : undefined
  return { data, next_cursor: last === undefined ? null : cursorOf(last) }
}
