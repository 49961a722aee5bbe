import { type RawBuilder, sql } from 'kysely'

/** The names that the ids of a caller have now. What was deleted has none. */
const NAMES = {
  key_name: sql`key.key_name`,
  team_name: sql`team.team_name`,
  organization_name: sql`organization.organization_name`,
  user_name: sql`coalesce(person.user_name, person.user_email)`,
} as const satisfies Readonly<Record<string, RawBuilder<unknown>>>

export type CallerNames = { readonly [Name in keyof typeof NAMES]: string | null }

const COLUMNS = sql.join(Object.entries(NAMES).map(([name, column]) => sql`${column} AS ${sql.id(name)}`))

/** Rows with the names of their key_id, team_id, organization_id and user_id, which are looked up for these rows alone. */
export function withNames<Row>(rows: RawBuilder<Row>, order: RawBuilder<unknown> = sql``): RawBuilder<Row> {
  return sql<Row>`
    SELECT found.*, ${COLUMNS} FROM (${rows}) AS found
      LEFT JOIN gateway_key AS key ON key.key_id = found.key_id
      LEFT JOIN gateway_team AS team ON team.team_id = found.team_id
      LEFT JOIN gateway_organization AS organization ON organization.organization_id = found.organization_id
      LEFT JOIN gateway_user AS person ON person.user_id = found.user_id
    ${order}`
}
