import { newFileId } from '../../src/batch/batch-ids.ts'
import { queries, rowsOf } from '../../src/stores/sql/query.ts'
import type { Sql } from '../../src/stores/sql/sql.ts'
import type { FullGateway } from './full-gateway.node.ts'
import { chatInit } from './gateway.ts'

/** A file whose content nobody reads. Resolves with its id. */
export async function plantFile(
  sql: Sql,
  owner: { readonly key_id: string; readonly team_id?: string; readonly organization_id?: string },
  more: {
    readonly purpose?: 'batch' | 'batch_output'
    readonly managed_tools_line?: number
    readonly state?: 'uploading' | 'ready'
    readonly expires_at?: string
  } = {},
): Promise<string> {
  const file_id = newFileId()
  const expires_at = new Date(Date.now() + 86_400_000).toISOString()
  const row = { file_id, purpose: 'batch' as const, filename: 'in.jsonl', state: 'ready' as const, expires_at }
  await rowsOf(sql, queries.insertInto('gateway_file').values({ ...row, ...owner, ...more }))
  return file_id
}

export interface ClientAnswer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
  readonly body: any
}

export interface KeyHolder {
  readonly key: string
  readonly key_id: string
  readonly team_id?: string
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ClientAnswer>
}

/** A client with a new key. */
export async function keyHolder(
  gateway: FullGateway,
  fields: { readonly key_id?: string; readonly team_id?: string; readonly organization_id?: string } = {},
): Promise<KeyHolder> {
  const response = await gateway.fetch('/ui/api/keys', chatInit(fields))
  const { key, key_id } = (await response.json()) as { key: string; key_id: string }
  return {
    key,
    key_id,
    ...fields,
    async ask(method, path, body, headers) {
      const init = body === undefined ? {} : chatInit(body)
      const all = { ...(init.headers as Record<string, string>), authorization: `Bearer ${key}`, ...headers }
      const answered = await fetch(gateway.url + path, { ...init, method, headers: all })
      return { status: answered.status, body: await answered.json() }
    },
  }
}

/** Nobody validates batches, or writes their files, from now on. */
export async function keepFromWorkers(sql: Sql): Promise<void> {
  const query = (text: string) => sql.query({ sql: text, parameters: [] })
  await query(`CREATE FUNCTION no_lease() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN IF NEW.lease_token IS NOT NULL THEN RETURN NULL; END IF; RETURN NEW; END $$`)
  await query('CREATE TRIGGER no_lease BEFORE UPDATE ON gateway_batch FOR EACH ROW EXECUTE FUNCTION no_lease()')
}
