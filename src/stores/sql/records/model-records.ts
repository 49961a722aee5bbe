import { sql } from 'kysely'
import { batchOf, queries, rowsOf } from '../query.ts'
import type { Sql, Statement } from '../sql.ts'
import {
  type KeyedContent,
  type KeyedPage,
  type KeyedRecord,
  type KeyedRecords,
  keyedPage,
  keyedRecords,
  keyedTable,
} from './keyed-records.ts'

export const MODELS = keyedTable({
  table: 'gateway_model',
  id: 'deployment_id',
  columns: ['model_name', 'gateway_params', 'model_info', 'sealed', 'credential'],
  searched: ['deployment_id', 'model_name'],
})

export type ModelRecord = KeyedRecord<typeof MODELS>
export type ModelContent = KeyedContent<typeof MODELS>

/** The deployments of the database. */
export interface ModelRecords extends Omit<KeyedRecords<ModelRecord, ModelContent>, 'page'> {
  /** Increases with every change of models, route groups and published policies. */
  revision(): Promise<string>
  /** Those that name a credential, by id. */
  naming(credential: string): Promise<ModelRecord[]>
  /** By id, after the cursor. `taken` are those of `ids` that have a record. */
  page(
    page: KeyedPage<ModelContent> & { readonly ids: readonly string[] },
  ): Promise<{ records: ModelRecord[]; taken: ReadonlySet<string> }>
}

/** Static text: every process runs it often. */
const REVISION: Statement = { sql: "SELECT revision FROM gateway_revision WHERE subject = 'routing'", parameters: [] }

export function modelRecords(database: Sql): ModelRecords {
  return {
    ...keyedRecords(database, MODELS, ({ credential }) =>
      credential === null ? undefined : sql`SELECT FROM gateway_credential WHERE name = ${credential} FOR KEY SHARE`,
    ),
    async revision() {
      const { rows } = await database.query<{ revision: string }>(REVISION)
      return rows[0]?.revision ?? '0'
    },
    naming: (credential) =>
      rowsOf(
        database,
        queries
          .selectFrom('gateway_model')
          .select(['deployment_id', ...MODELS.columns, 'version', 'created_at', 'updated_at'])
          .where('credential', '=', credential)
          .orderBy('deployment_id'),
      ),
    async page({ ids, ...page }) {
      const taken = queries
        .selectFrom('gateway_model')
        .select('deployment_id')
        .where('deployment_id', '=', sql<string>`ANY(${ids}::text[])`)
      const [records, known] = await batchOf(database, [keyedPage(MODELS, page), taken])
      return { records, taken: new Set(known.map(({ deployment_id }) => deployment_id)) }
    },
  }
}
