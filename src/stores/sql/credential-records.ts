import { queries, rowsOf } from './query.ts'
import {
  type KeyedContent,
  type KeyedRecord,
  type KeyedRecords,
  keyedRecords,
  keyedTable,
} from './records/keyed-records.ts'
import type { Sql } from './sql.ts'

const CREDENTIALS = keyedTable({
  table: 'gateway_credential',
  id: 'name',
  columns: ['provider', 'gateway_params', 'sealed', 'rotated_at'],
  searched: ['name'],
})

export type CredentialRecord = KeyedRecord<typeof CREDENTIALS>
export type CredentialContent = KeyedContent<typeof CREDENTIALS>

/** The named credentials. One that a deployment of the database names cannot be removed: the foreign key refuses it. */
export interface CredentialRecords extends KeyedRecords<CredentialRecord, CredentialContent> {
  /** The deployments of the database that name each, by id. */
  namedBy(names: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>
}

export function credentialRecords(database: Sql): CredentialRecords {
  return {
    ...keyedRecords(database, CREDENTIALS),
    async namedBy(names) {
      if (names.length === 0) return new Map()
      const rows = await rowsOf(
        database,
        queries
          .selectFrom('gateway_model')
          .select(['credential', 'deployment_id'])
          .where('credential', 'in', names)
          .orderBy('deployment_id'),
      )
      const found = new Map<string, string[]>()
      for (const { credential, deployment_id } of rows) {
        const ids = found.get(credential ?? '') ?? []
        ids.push(deployment_id)
        found.set(credential ?? '', ids)
      }
      return found
    },
  }
}
