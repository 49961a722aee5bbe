import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { contentKey, errorFileId, outputFileId } from '../../src/batch/batch-ids.ts'
import { jsonLog } from '../../src/lib/log.ts'
import { separateTimers } from '../../src/lib/timers/timers.ts'
import { loadConfig } from '../../src/routing/configuration.ts'
import { createServices, type Services } from '../../src/services.ts'
import type { Blobs } from '../../src/stores/blobs/blobs.ts'
import { folderBlobs } from '../../src/stores/blobs/folder.node.ts'
import { inProcessStore } from '../../src/stores/kv/in-process.ts'
import { nodePostgresSql } from '../../src/stores/sql/adapters/node-postgres.node.ts'
import { applySchema } from '../../src/stores/sql/schema/apply-schema.ts'
import type { Sql, Statement } from '../../src/stores/sql/sql.ts'
import { bufferedDelivery } from '../../src/telemetry/delivery/buffered-delivery.ts'
import type { Transport, UpstreamRequest } from '../../src/transport/transport.ts'
import { wholeBody } from '../../src/transport/whole-body.ts'
import { configuration } from './configuration.ts'
import { MASTER_KEY, SALT_KEY } from './gateway.ts'
import { noHasher, noQueue } from './nothing.ts'
import { preparedDatabase } from './prepared-database.ts'

const SCHEMA = readFileSync(new URL('../../schema.sql', import.meta.url), 'utf8')
const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** What the provider does with a request, by the text of its last message. */
export type Provider = (text: string) => Promise<ProviderAnswer> | ProviderAnswer

export interface ProviderAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly content?: string
  /** The body as a whole, in place of an answer of the usual shape. */
  readonly raw?: string
}

/** A place of batches: a database, blobs and a shared store, over which processes work. */
export interface BatchPlace {
  readonly sql: Sql
  readonly blobs: Blobs
  /** Every request that the provider got, by its text. */
  readonly asked: string[]
  /** What the provider does from now on. */
  provider: Provider
  /** Another process. */
  services(options?: { readonly sql?: (sql: Sql) => Sql; readonly blobs?: Blobs }): Services
  /** The keys of all blobs. */
  stored(): Promise<string[]>
  query<Row = Record<string, unknown>>(text: string, ...parameters: unknown[]): Promise<Row[]>
  /** A key of its own. */
  key(fields?: Readonly<Record<string, unknown>>): Promise<string>
  /** A batch that was validated. Each of its requests says `<batch>-<item>`. */
  batch(options: SeededBatch): Promise<string>
  /** Waits until this holds of the batch. */
  until(batchId: string, test: (batch: BatchRow) => boolean, timeoutMs?: number): Promise<BatchRow>
  /** What the files of an ended batch say of each item, in order. */
  results(batchId: string): Promise<ResultRow[]>
  close(): Promise<void>
}

export interface SeededBatch {
  readonly id: string
  readonly requests: number
  readonly keyId?: string
  readonly teamId?: string | null
  readonly model?: string
  /** The line of a request, in place of the usual one. */
  readonly line?: (item: number) => string
  readonly expiresIn?: string
}

export interface BatchRow {
  readonly status: string
  readonly outcome: string | null
  readonly requests: number
  readonly next_item: number
  readonly completed: number
  readonly failed: number
  readonly input_tokens: string
  readonly output_tokens: string
  readonly cost_nano: string
  readonly model: string | null
}

export interface ResultRow {
  readonly item: number
  readonly failed: boolean
  readonly line: {
    readonly custom_id: string
    readonly response: { readonly status_code: number; readonly body: Record<string, unknown> } | null
    readonly error: { readonly code: string } | null
  }
}

/** `newDatabase` makes its database: a copy with the schema in it, where the server is the one that all tests share. */
export async function startBatchPlace(
  postgresUrl: string,
  settings: Readonly<Record<string, unknown>> = {},
  newDatabase: (url: string) => Promise<string> = preparedDatabase,
): Promise<BatchPlace> {
  const database = nodePostgresSql({ connectionString: await newDatabase(postgresUrl) })
  await applySchema(database, SCHEMA)
  const folder = await mkdtemp(join(tmpdir(), 'gateway-batches-'))
  const blobs = folderBlobs(join(folder, 'blobs'))
  const store = inProcessStore({ now: Date.now })
  const log = jsonLog('silent', () => {})
  const asked: string[] = []
  const started: Services[] = []
  const config = loadConfig(
    configuration({
      general_settings: { embeddings_batch_enabled: true, callable_target_default: 'allow', ...settings },
      router_settings: { num_retries: 0, cooldown_time: 0, hedge_after_ms: 20 },
      model_list: ['m', 'other', 'two', 'two'].map((name, at) => ({
        model_name: name,
        deployment_id: `d-${name}-${at}`,
        gateway_params: {
          model: `openai-compatible/${name}-there`,
          api_base: 'https://provider.test/v1',
          api_key: 'sk-1',
        },
        model_info: { input_cost_per_token: 0.000001, output_cost_per_token: 0.000002 },
      })),
    }),
    { GATEWAY_MASTER_KEY: MASTER_KEY, GATEWAY_SALT_KEY: SALT_KEY },
  )
  const query = async <Row>(text: string, ...parameters: unknown[]) =>
    (await database.query<Row>({ sql: text, parameters })).rows
  let keys = 0

  const place: BatchPlace = {
    sql: database,
    blobs,
    asked,
    provider: () => ({}),
    services({ sql = (own: Sql) => own, blobs: ownBlobs = blobs } = {}) {
      const own = sql(database)
      const services = createServices(config, {
        store,
        sql: own,
        blobs: ownBlobs,
        queue: noQueue,
        transport: transport((text) => {
          asked.push(text)
          return place.provider(text)
        }),
        passwordHasher: noHasher,
        log,
        counting: 'process',
        callersKept: 100,
        memoryBytes: 256 * 1024 * 1024,
        delivering: (report) => bufferedDelivery({ sql: own, log, report, gatherMs: 20 }),
        draining: () => false,
        timers: separateTimers,
      })
      started.push(services)
      return services
    },
    async stored() {
      const names = await readdir(join(folder, 'blobs'), { recursive: true })
      return names.filter((name) => name.endsWith('~blob')).map((name) => name.slice(0, -'~blob'.length))
    },
    query,
    async key(fields = {}) {
      const keyId = `key-${++keys}`
      const all = { key_id: keyId, key_hash: `hash-${keyId}`, ...fields }
      const names = Object.keys(all)
      await query(
        `INSERT INTO gateway_key (${names.join(', ')}) VALUES (${names.map((_, at) => `$${at + 1}`).join(', ')})`,
        ...Object.values(all),
      )
      return keyId
    },
    async batch({ id, requests, keyId = 'master_key', teamId = null, model = 'm', line, expiresIn = '24 hours' }) {
      const lines = Array.from({ length: requests }, (_, item) => line?.(item) ?? usualLine(id, item, model))
      const checkpoints: { offset: number; line: number }[] = []
      let offset = 0
      for (const [item, text] of lines.entries()) {
        if (item % 64 === 0) checkpoints.push({ offset, line: item + 1 })
        offset += encoder.encode(text).byteLength + 1
      }
      const bytes = encoder.encode(lines.map((text) => `${text}\n`).join(''))
      await blobs.put(`files/file-${id}`, bytes, 'application/jsonl')
      await query(
        `INSERT INTO gateway_file (file_id, purpose, filename, bytes, lines, state, key_id, expires_at)
         VALUES ($1, 'batch', 'in.jsonl', $2, $3, 'ready', $4, now() + interval '1 day')`,
        `file-${id}`,
        bytes.byteLength,
        requests,
        keyId,
      )
      await query(
        `INSERT INTO gateway_batch (batch_id, endpoint, input_file_id, status, key_id, team_id, requests, checkpoints,
           in_progress_at, expires_at)
         VALUES ($1, '/v1/chat/completions', $2, 'in_progress', $3, $4, $5, $6, now(), now() + $7::interval)`,
        id,
        `file-${id}`,
        keyId,
        teamId,
        requests,
        JSON.stringify(checkpoints),
        expiresIn,
      )
      return id
    },
    async until(batchId, test, timeoutMs = 15_000) {
      const deadline = Date.now() + timeoutMs
      for (;;) {
        const [row] = await query<BatchRow>('SELECT * FROM gateway_batch WHERE batch_id = $1', batchId)
        if (row && test(row)) return row
        if (Date.now() > deadline) throw new Error(`not so within ${timeoutMs} ms: ${JSON.stringify(row)}`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
    async results(batchId) {
      const rows: ResultRow[] = []
      for (const [fileId, failed] of [
        [outputFileId(batchId), false],
        [errorFileId(batchId), true],
      ] as const) {
        const blob = await blobs.get(contentKey(fileId))
        const text = blob ? await new Response(blob.body).text() : ''
        for (const written of text.split('\n').filter(Boolean)) {
          const line = JSON.parse(written)
          rows.push({ item: Number(line.id.slice(line.id.lastIndexOf('_') + 1)), failed, line })
        }
      }
      return rows.toSorted((one, other) => one.item - other.item)
    },
    async close() {
      for (const services of started) await services.batchWorker.stop(2000)
      for (const services of started) await services.delivery.drain(1000)
      await database.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
  return place
}

export const usualLine = (id: string, item: number, model = 'm') =>
  JSON.stringify({
    custom_id: `${id}-${item}`,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model, messages: [{ role: 'user', content: `${id}-${item}` }] },
  })

/** Counts the statements that pass. */
export function counting(sql: Sql, statements: Statement[]): Sql {
  return {
    ...sql,
    query(statement) {
      statements.push(statement)
      return sql.query(statement)
    },
  }
}

function transport(answer: (text: string) => Promise<ProviderAnswer> | ProviderAnswer): Transport {
  return {
    async send(request: UpstreamRequest) {
      const sent = wholeBody(request.body)
      const { model, messages } = JSON.parse(typeof sent === 'string' ? sent : decoder.decode(sent))
      const text = messages.at(-1).content
      const { status = 200, headers = {}, content = `re ${text}`, raw } = await answer(text)
      const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }]
      const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
      const whole = { id: 'c', object: 'chat.completion', created: 1, model, choices, usage }
      const refused = { error: { message: 'no', type: 'x' } }
      const bytes: (Uint8Array | undefined)[] = [
        encoder.encode(raw ?? JSON.stringify(status === 200 ? whole : refused)),
      ]
      return {
        status,
        headers: { 'content-type': 'application/json', ...headers },
        body: { read: async () => bytes.shift(), bytes: async () => bytes.shift() ?? new Uint8Array(), cancel() {} },
      }
    },
  }
}

export const isOver = ({ status }: BatchRow): boolean => ['completed', 'expired', 'cancelled'].includes(status)
