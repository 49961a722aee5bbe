import { sql } from 'kysely'
import { batchOf, type Query } from '../query.ts'
import type { Sql } from '../sql.ts'

/** The columns of sealed texts: the table, the id of its rows, the columns that a text is bound to, and a name for
 *  operators. */
export const SEALED_COLUMNS = [
  {
    table: 'gateway_credential',
    id: 'name',
    sealed: 'sealed',
    beside: ['provider', 'gateway_params'],
    what: 'credentials',
  },
  { table: 'gateway_model', id: 'deployment_id', sealed: 'sealed', beside: ['gateway_params'], what: 'models' },
  { table: 'gateway_mcp_server', id: 'server_key', sealed: 'sealed', beside: ['settings'], what: 'tool servers' },
  { table: 'gateway_account', id: 'account_id', sealed: 'totp_sealed', beside: [], what: 'second factors' },
  { table: 'gateway_email', id: 'email_id', sealed: 'sealed', beside: [], what: 'e-mails' },
] as const

export type SealedColumn = (typeof SEALED_COLUMNS)[number]

/** Rows whose text begins with this mark. */
export function sealedBy({ sealed }: SealedColumn, mark: string) {
  return sql<boolean>`starts_with(${sql.ref(sealed)}, ${`${mark}.`})`
}

/** How many texts a key has sealed, by kind: `3 models`, `1 second factors`. */
export async function sealedCounts(database: Sql, mark: string): Promise<readonly { what: string; count: number }[]> {
  const counting = SEALED_COLUMNS.map(
    (column): Query<{ count: number }> =>
      sql`SELECT count(*)::int AS count FROM ${sql.table(column.table)} WHERE ${sealedBy(column, mark)}`,
  )
  const found = await batchOf<{ count: number }[]>(database, counting)
  return SEALED_COLUMNS.map(({ what }, at) => ({ what, count: found[at]?.[0]?.count ?? 0 })).filter(
    ({ count }) => count > 0,
  )
}
