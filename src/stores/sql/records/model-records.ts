import type { Selectable } from 'kysely'
import type { Schema } from '../schema/schema.ts'
import type { Sql } from '../sql.ts'
import { routingChange } from './routing-change.ts'

export type ModelRecord = Selectable<Schema['gateway_model']>
export type ModelContent = Pick<ModelRecord, 'model_name' | 'gateway_params' | 'model_info' | 'sealed'>

/** The deployments of the database. Every change moves the revision in its own statement; undefined says that nothing
 *  was changed, because the id is taken, absent, or at another version. */
export interface ModelRecords {
  revision(): Promise<string>
  all(): Promise<ModelRecord[]>
  find(id: string): Promise<ModelRecord | undefined>
  /** By id, after `cursor`; of `ids`, those that have a record come in `taken`. */
  page(page: {
    readonly search: string
    readonly cursor: string
    readonly limit: number
    readonly ids: readonly string[]
  }): Promise<{ records: ModelRecord[]; taken: ReadonlySet<string> }>
  create(id: string, content: ModelContent): Promise<ModelRecord | undefined>
  replace(id: string, version: number, content: ModelContent): Promise<ModelRecord | undefined>
  remove(id: string): Promise<ModelRecord | undefined>
}

const COLUMNS = 'deployment_id, model_name, gateway_params, model_info, sealed, version, created_at, updated_at'

const change = (statement: string) => routingChange(statement, COLUMNS)

export function modelRecords(sql: Sql): ModelRecords {
  const rows = async (text: string, ...parameters: unknown[]) =>
    (await sql.query<ModelRecord>({ sql: text, parameters })).rows
  const one = async (text: string, ...parameters: unknown[]) => (await rows(text, ...parameters))[0]
  const values = ({ model_name, gateway_params, model_info, sealed }: ModelContent) => [
    model_name,
    gateway_params,
    model_info,
    sealed,
  ]
  return {
    async revision() {
      const text = "SELECT revision FROM gateway_revision WHERE subject = 'routing'"
      const found = await sql.query<{ revision: string }>({ sql: text, parameters: [] })
      return found.rows[0]?.revision ?? '0'
    },
    all: () => rows(`SELECT ${COLUMNS} FROM gateway_model ORDER BY deployment_id`),
    find: (id) => one(`SELECT ${COLUMNS} FROM gateway_model WHERE deployment_id = $1`, id),
    async page({ search, cursor, limit, ids }) {
      const [found, taken] = await sql.batch([
        {
          sql: `SELECT ${COLUMNS} FROM gateway_model
                WHERE deployment_id > $1 AND strpos(lower(deployment_id || ' ' || model_name), lower($2)) > 0
                ORDER BY deployment_id LIMIT $3`,
          parameters: [cursor, search, limit],
        },
        { sql: 'SELECT deployment_id FROM gateway_model WHERE deployment_id = ANY($1::text[])', parameters: [ids] },
      ])
      return {
        records: (found?.rows ?? []) as unknown as ModelRecord[],
        taken: new Set((taken?.rows ?? []).map(({ deployment_id }) => String(deployment_id))),
      }
    },
    create: (id, content) =>
      one(
        change(`INSERT INTO gateway_model (deployment_id, model_name, gateway_params, model_info, sealed)
                VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`),
        id,
        ...values(content),
      ),
    replace: (id, version, content) =>
      one(
        change(`UPDATE gateway_model SET model_name = $3, gateway_params = $4, model_info = $5, sealed = $6,
                  version = version + 1, updated_at = now()
                WHERE deployment_id = $1 AND version = $2`),
        id,
        version,
        ...values(content),
      ),
    remove: (id) => one(change('DELETE FROM gateway_model WHERE deployment_id = $1'), id),
  }
}
