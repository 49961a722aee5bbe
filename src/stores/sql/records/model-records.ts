import { type Selectable, sql } from 'kysely'
import { batchOf, type Query, queries, rowsOf } from '../query.ts'
import type { Schema } from '../schema/schema.ts'
import type { Sql, Statement } from '../sql.ts'
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

const COLUMNS = [
  'deployment_id',
  'model_name',
  'gateway_params',
  'model_info',
  'sealed',
  'version',
  'created_at',
  'updated_at',
] as const

/** Static text: every process asks it again and again. */
const REVISION: Statement = { sql: "SELECT revision FROM gateway_revision WHERE subject = 'routing'", parameters: [] }

export function modelRecords(database: Sql): ModelRecords {
  const all = queries.selectFrom('gateway_model').select(COLUMNS).orderBy('deployment_id')
  const one = async (query: Query<ModelRecord>) => (await rowsOf(database, query))[0]
  return {
    async revision() {
      const { rows } = await database.query<{ revision: string }>(REVISION)
      return rows[0]?.revision ?? '0'
    },
    all: () => rowsOf(database, all),
    find: (id) => one(all.where('deployment_id', '=', id)),
    async page({ search, cursor, limit, ids }) {
      const found = all
        .where('deployment_id', '>', cursor)
        .where(sql<boolean>`strpos(lower(deployment_id || ' ' || model_name), lower(${search})) > 0`)
        .limit(limit)
      const taken = queries
        .selectFrom('gateway_model')
        .select('deployment_id')
        .where('deployment_id', '=', sql<string>`ANY(${ids}::text[])`)
      const [records, known] = await batchOf(database, [found, taken])
      return { records, taken: new Set(known.map(({ deployment_id }) => deployment_id)) }
    },
    create: (id, { model_name, gateway_params, model_info, sealed }) =>
      one(
        routingChange(
          queries
            .insertInto('gateway_model')
            .values({ deployment_id: id, model_name, gateway_params, model_info, sealed })
            .onConflict((conflict) => conflict.doNothing())
            .returning(COLUMNS),
        ),
      ),
    replace: (id, version, { model_name, gateway_params, model_info, sealed }) =>
      one(
        routingChange(
          queries
            .updateTable('gateway_model')
            .set((held) => ({
              ...{ model_name, gateway_params, model_info, sealed },
              version: held('version', '+', 1),
              updated_at: sql<string>`now()`,
            }))
            .where('deployment_id', '=', id)
            .where('version', '=', version)
            .returning(COLUMNS),
        ),
      ),
    remove: (id) =>
      one(routingChange(queries.deleteFrom('gateway_model').where('deployment_id', '=', id).returning(COLUMNS))),
  }
}
