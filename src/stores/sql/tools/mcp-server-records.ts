import { sql } from 'kysely'
import { batchOf, queries } from '../query.ts'
import {
  type KeyedContent,
  type KeyedPage,
  type KeyedRecord,
  type KeyedRecords,
  keyedPage,
  keyedRecords,
  keyedTable,
} from '../records/keyed-records.ts'
import type { Sql } from '../sql.ts'

const MCP_SERVERS = keyedTable({
  table: 'gateway_mcp_server',
  id: 'server_key',
  columns: ['settings', 'sealed'],
  searched: ['server_key'],
})

export type McpServerRecord = KeyedRecord<typeof MCP_SERVERS>
export type McpServerContent = KeyedContent<typeof MCP_SERVERS>

/** The servers of managed tools of the database. */
export interface McpServerRecords extends Omit<KeyedRecords<McpServerRecord, McpServerContent>, 'page'> {
  /** By key, after the cursor. `taken` are those of `keys` that have a record. */
  page(
    page: KeyedPage<McpServerContent> & { readonly keys: readonly string[] },
  ): Promise<{ records: McpServerRecord[]; taken: ReadonlySet<string> }>
}

export function mcpServerRecords(database: Sql): McpServerRecords {
  return {
    ...keyedRecords(database, MCP_SERVERS),
    async page({ keys, ...page }) {
      const taken = queries
        .selectFrom('gateway_mcp_server')
        .select('server_key')
        .where('server_key', '=', sql<string>`ANY(${keys}::text[])`)
      const [records, known] = await batchOf(database, [keyedPage(MCP_SERVERS, page), taken])
      return { records, taken: new Set(known.map(({ server_key }) => server_key)) }
    },
  }
}
