import { type RawBuilder, sql } from 'kysely'

/** The condition that a text contains what is searched for, whatever the case of the letters. Columns of ids are COLLATE
 *  "C", which would spread to names beside them, and knows the case of ASCII letters alone. */
export function contains(text: RawBuilder<unknown>, search: string): RawBuilder<boolean> {
  return sql<boolean>`strpos(lower((${text}) COLLATE "default"), lower(${search})) > 0`
}
