import { type RawBuilder, sql } from 'kysely'

const ASCII = /^[ -~]*$/

/** The condition that a text contains what is searched for, whatever the case of the letters. Columns of ids are COLLATE
 *  "C", which would spread to names beside them: it knows the case of ASCII letters alone, and for those takes half the
 *  time. */
export function contains(text: RawBuilder<unknown>, search: string): RawBuilder<boolean> {
  const collation = ASCII.test(search) ? sql`"C"` : sql`"default"`
  return sql<boolean>`strpos(lower((${text}) COLLATE ${collation}), lower(${search})) > 0`
}
