import { createApp } from '../../src/app.ts'
import { jsonLog } from '../../src/lib/log.ts'
import type { Client } from '../../src/pipeline/client.ts'
import { loadConfig } from '../../src/routing/configuration.ts'
import { createServices } from '../../src/services.ts'
import { inProcessStore } from '../../src/stores/kv/in-process.ts'
import { redisTcpStore } from '../../src/stores/kv/redis-tcp.node.ts'
import type { SharedStore } from '../../src/stores/kv/shared-store.ts'
import type { Sql } from '../../src/stores/sql/sql.ts'
import type { Transport } from '../../src/transport/transport.ts'
import { noBlobs, noHasher, noQueue } from '../support/nothing.ts'
import { newKey } from './gateway-server.ts'
import { LOAD_CORE, run, SERVER_CORE } from './processes.ts'
import { MODEL, REPLY } from './wire.ts'

/** What there is, and how much of it is called. */
export interface Cell {
  readonly deployments: number
  /** All deployments in one group, or each in its own. */
  readonly groups: 'one' | 'many'
  readonly keys: number
  /** How many of the keys call, in turn. */
  readonly calling: number
  readonly isolates: number
  /** Where the isolates share their state; without one, it is inside the process. */
  readonly redisUrl: string | undefined
  readonly bodyBytes: number
  readonly seconds: number
}

export interface CellResult {
  readonly calls: number
  /** Of this process, microseconds. */
  readonly cpuPerCall: number
  readonly storeAsksPerCall: number
  readonly statementsPerCall: number
}

/** A million keys have to call once. */
const LONGEST_MS = 1_200_000

/** Measures one cell in a process of its own: everything of the gateway but its sockets. */
export async function measureCell(cell: Cell): Promise<CellResult> {
  const core = cell.redisUrl === undefined ? SERVER_CORE : LOAD_CORE
  // A store inside the process keeps some kilobytes of every key that has called today.
  const heap = cell.keys > 100_000 ? ['--max-old-space-size=12000'] : []
  const printed = await run(process.execPath, [...heap, import.meta.filename, JSON.stringify(cell)], core, LONGEST_MS)
  return JSON.parse(printed)
}

async function measure(cell: Cell): Promise<CellResult> {
  const asked = { store: 0, statements: 0 }
  const isolates = Array.from({ length: cell.isolates }, () => isolate(cell, asked))
  const keys = Array.from({ length: cell.keys }, newKey)
  const headersWith = (key: string) => ({ authorization: `Bearer ${key}`, ...JSON_BODY })
  const headersOf = keys.slice(0, cell.calling).map(headersWith)
  const body = bodyOf(cell.bodyBytes)
  let turn = 0
  const call = async (headers: HeadersInit) => {
    const app = isolates[turn % isolates.length] as ReturnType<typeof isolate>
    turn += 1
    await app(headers, body(turn))
  }
  // The others have called before: what is kept of them is there.
  for (const key of keys.slice(cell.calling)) await call(headersWith(key))
  const next = () => call(headersOf[turn % headersOf.length] as HeadersInit)
  const warmCalls = Math.max(3 * headersOf.length, isolates.length * 20, 300 / Math.ceil(cell.bodyBytes / 100_000))
  for (let at = 0; at < Math.min(warmCalls, 150_000); at++) await next()

  const [before, used, startedAt] = [{ ...asked }, process.cpuUsage(), performance.now()]
  let calls = 0
  const atOnce = Math.max(1, Math.min(cell.isolates, 32))
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (; performance.now() - startedAt < 1000 * cell.seconds; calls++) await next()
    }),
  )
  const { user, system } = process.cpuUsage(used)
  return {
    calls,
    cpuPerCall: (user + system) / calls,
    storeAsksPerCall: (asked.store - before.store) / calls,
    statementsPerCall: (asked.statements - before.statements) / calls,
  }
}

const JSON_BODY = { 'content-type': 'application/json' }

/** The gateway as one isolate has it. */
function isolate(cell: Cell, asked: { store: number; statements: number }) {
  const config = loadConfig(configuration(cell), {
    GATEWAY_MASTER_KEY: newKey(),
    GATEWAY_SALT_KEY: 'salt-of-the-growth-0f4d1b7a93c5',
  })
  const { redisUrl } = cell
  const store = redisUrl === undefined ? inProcessStore({ now: Date.now }) : redisTcpStore({ url: redisUrl })
  const app = createApp(
    createServices(config, {
      store: counting(store, asked),
      sql: everyKey(asked),
      blobs: noBlobs,
      queue: noQueue,
      transport: canned,
      passwordHasher: noHasher,
      log: jsonLog('silent', () => {}),
      counting: 'process',
      callersKept: 20_000,
      memoryBytes: 256 * 1024 * 1024,
      delivering: () => ({ deliver() {}, depth: () => 0, drain: async () => 0 }),
      draining: () => false,
    }),
  )
  return async (headers: HeadersInit, body: Uint8Array) => {
    const deferred: Promise<unknown>[] = []
    const request = new Request('http://gateway.test/v1/chat/completions', { method: 'POST', headers })
    const response = await app.fetch(request, { client: clientOf(body, deferred) })
    const answer = await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`${response.status} ${new TextDecoder().decode(answer)}`)
    await Promise.all(deferred)
  }
}

function configuration({ deployments, groups }: Cell): string {
  const model_list = Array.from({ length: deployments }, (_, at) => ({
    model_name: groups === 'one' || at === 0 ? MODEL : `${MODEL}-${at}`,
    deployment_id: `deployment-${at}`,
    gateway_params: { model: 'openai-compatible/bench', api_base: 'https://far.test/v1', api_key: 'sk-bench' },
    model_info: { input_cost_per_token: 0.0000001, output_cost_per_token: 0.0000004 },
  }))
  return JSON.stringify({ model_list })
}

function counting(store: SharedStore, asked: { store: number }): SharedStore {
  const count =
    <Input extends unknown[], Output>(verb: (...input: Input) => Output) =>
    (...input: Input): Output => {
      asked.store += 1
      return verb(...input)
    }
  return {
    ...store,
    admit: count(store.admit),
    settle: count(store.settle),
    startAttempt: count(store.startAttempt),
    signals: count(store.signals),
    get: count(store.get),
    put: count(store.put),
  }
}

const LIMITS = {
  rpm_limit: 1e9,
  tpm_limit: 1e12,
  rph_limit: 1e9,
  rpd_limit: 1e9,
  tpd_limit: 1e12,
  max_budget: 1e6,
  soft_budget: null,
  budget_duration: '30d',
  budget_started_at: '2026-01-01T00:00:00.000Z',
  target_mode: null,
  version: 1,
}

const OWN = { owner_account_id: null, max_parallel_requests: 1000, allowed_ips: null, expires_at: null }

/** A database that knows every key, each limited at four levels of which three are everybody's. */
export function everyKey(asked: { statements: number }): Sql {
  const nothing = { rows: [], affected: 0 }
  return {
    async query({ sql, parameters }) {
      asked.statements += 1
      if (!sql.includes('key_hash')) return nothing
      const rows = (parameters[0] as readonly string[]).map((key_hash) => ({
        key_hash,
        key: { ...LIMITS, ...OWN, key_id: `key-${key_hash.slice(0, 20)}` },
        revoked: false,
        user: { ...LIMITS, user_id: 'user' },
        team: { ...LIMITS, team_id: 'team' },
        organization: { ...LIMITS, organization_id: 'organization' },
        bindings: [],
      }))
      return { rows, affected: rows.length } as never
    },
    batch: async () => [],
    ping: async () => {},
    close: async () => {},
  }
}

const reply = new TextEncoder().encode(REPLY)

/** An upstream that has answered already. */
export const canned: Transport = {
  async send() {
    let left: Uint8Array | undefined = reply
    const read = async () => {
      const piece = left
      left = undefined
      return piece
    }
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: { read, bytes: async () => (await read()) ?? new Uint8Array(), cancel() {} },
    }
  },
}

export function clientOf(body: Uint8Array, deferred: Promise<unknown>[]): Client {
  return {
    signal: new AbortController().signal,
    address: '',
    defer: (work) => void deferred.push(work),
    body: async () => body,
    ended: () => {},
    upload: () => {
      throw new Error('not here')
    },
    openStream: () => {
      throw new Error('not here')
    },
  }
}

function bodyOf(bytes: number): (turn: number) => Uint8Array {
  const content = 'All the "words" of a long talk,\n '.repeat(Math.max(1, Math.ceil(bytes / 36)))
  const body = new TextEncoder().encode(JSON.stringify({ model: MODEL, messages: [{ role: 'user', content }] }))
  return () => body
}

const [, program, order] = process.argv
if (program === import.meta.filename && order !== undefined) {
  process.stdout.write(JSON.stringify(await measure(JSON.parse(order))))
  process.exit(0)
}
