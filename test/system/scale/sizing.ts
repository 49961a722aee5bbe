import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createClient } from '@redis/client'
import pg from 'pg'
import { keyHasher } from '../../../src/lib/crypto.ts'
import { newApiKey } from '../../../src/lib/token.ts'
import { MASTER_KEY, SALT_KEY } from '../../support/gateway.ts'
import { freshDatabase, startPostgres } from '../../support/postgres.ts'
import { startRedis } from '../../support/redis.ts'

/** What a gateway, its Redis and its PostgreSQL take: `npm run prepare && node test/system/scale/sizing.ts 50000 1000`, keys
 *  that call once and streams that are open at once. Counts, bytes and ratios, which a busy machine does not change. */
const [KEYS = 50_000, STREAMS = 1000] = process.argv.slice(2).map(Number)
const CALLS_OF_A_KIND = 3000
const print = (line: string) => process.stdout.write(`${line}\n`)
const PROGRAM = fileURLToPath(new URL('../../../dist/model-gateway.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'gateway-sizing-'))
const agent = new Agent({ keepAlive: true, maxSockets: 2000 })

/** A provider in one: answers at once, in 100 pieces, or begins a stream and goes on once a second until it is closed. */
const provider = createServer(async (asked, answer) => {
  let body = ''
  for await (const piece of asked.setEncoding('utf8')) body += piece
  const { stream, messages } = JSON.parse(body) as { stream?: boolean; messages: { content: string }[] }
  const usage = { prompt_tokens: 20, completion_tokens: 100, total_tokens: 120 }
  const base = { id: 'c', created: 1, model: 'm' }
  if (!stream) {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'word '.repeat(100) }, finish_reason: 'stop' }]
    answer.writeHead(200, { 'content-type': 'application/json' })
    answer.end(JSON.stringify({ ...base, object: 'chat.completion', choices, usage }))
    return
  }
  answer.writeHead(200, { 'content-type': 'text/event-stream' })
  const piece = (delta: object, more: object = {}) =>
    answer.write(
      `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, ...more }] })}\n\n`,
    )
  const isLong = messages.at(-1)?.content === 'long'
  for (let at = 0; isLong ? !answer.destroyed : at < 100; at++) {
    piece({ content: 'word ' })
    await wait(isLong ? 1000 : 1)
  }
  piece({}, { finish_reason: 'stop' })
  answer.write(`data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices: [], usage })}\n\n`)
  answer.end('data: [DONE]\n\n')
})
provider.listen(0, '127.0.0.1')
await once(provider, 'listening')
const upstream = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`

async function gateway(name: string, stores: Record<string, string>): Promise<{ child: ChildProcess; port: number }> {
  const config = join(folder, `${name}.json`)
  const model = (model_name: string, model_info: object = {}) => ({
    model_name,
    gateway_params: { model: 'openai-compatible/m', api_base: upstream, api_key: 'sk-sizing' },
    model_info: { input_cost_per_token: 0.000001, output_cost_per_token: 0.000002, ...model_info },
  })
  writeFileSync(config, JSON.stringify({ model_list: [model('m')] }))
  const child = spawn(process.execPath, ['--max-semi-space-size=32', PROGRAM], {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      GATEWAY_CONFIG: config,
      GATEWAY_DATA_DIR: join(folder, name),
      GATEWAY_MASTER_KEY: MASTER_KEY,
      GATEWAY_SALT_KEY: SALT_KEY,
      ...stores,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < 10_000) said += text
  })
  while (!/^stores /m.test(said)) await wait(20)
  return { child, port: Number(/"event":"listening".*"port":(\d+)/.exec(said)?.[1]) }
}

const status = (pid: number, what: string) =>
  Number(new RegExp(`^${what}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
/** Ticks of processor time, of the process and in the kernel for it. */
const ticks = (pid: number) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return Number(fields[11]) + Number(fields[12])
}

let port = 0
/** Resolves with the status once the answer is read; a `held` one is left open, and resolves at its first bytes. */
const call = (key: string, path: string, body: object, held = false) =>
  new Promise<number>((resolve, reject) => {
    const text = JSON.stringify(body)
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    }
    const sent = request({ port, host: '127.0.0.1', path, method: 'POST', headers, agent: held ? new Agent() : agent })
    sent.on('error', (error) => (held ? resolve(0) : reject(error)))
    sent.on('response', (answer) => {
      const code = answer.statusCode ?? 0
      if (held) answer.once('data', () => resolve(code))
      answer.on('error', () => {})
      answer.resume().on('end', () => resolve(code))
    })
    sent.end(text)
    if (held) open.push(sent)
  })
const open: { destroy(): void }[] = []

async function many(count: number, atOnce: number, one: (at: number) => Promise<number>): Promise<void> {
  let next = 0
  const worker = async () => {
    for (let at = next++; at < count; at = next++) {
      const code = await one(at)
      if (code !== 200) throw new Error(`call ${at} got ${code}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
const chat = (content = 'Hello', more: object = {}) => ({ model: 'm', messages: [{ role: 'user', content }], ...more })

const [postgres, redis] = await Promise.all([startPostgres(), startRedis()])
if (!postgres || !redis) throw new Error('PostgreSQL or redis-server is not installed')
const children: ChildProcess[] = []
try {
  for (const start of ['the first start', 'a later start']) {
    const { child: alone } = await gateway('embedded', {})
    children.push(alone)
    await wait(5000)
    const pid = Number(alone.pid)
    print(
      `embedded database, ${start}: ${Math.round(status(pid, 'VmHWM'))} MB at its peak, ${Math.round(status(pid, 'VmRSS'))} MB idle`,
    )
    alone.kill('SIGTERM')
    await once(alone, 'exit')
  }

  const database = await freshDatabase(postgres.url)
  const client = createClient({ url: redis.url })
  client.on('error', () => {})
  await client.connect()
  const { child, port: taken } = await gateway('fleet', { DATABASE_URL: database, REDIS_URL: redis.url })
  children.push(child)
  port = taken
  const pid = Number(child.pid)
  const sql = new pg.Pool({ connectionString: database, max: 2 })
  sql.on('error', () => {})
  const memory = () => Math.round(status(pid, 'VmRSS'))
  const redisBytes = async () => Number(/used_memory_dataset:(\d+)/.exec(await client.info('memory'))?.[1])
  const sizeOf = async (like: string) => {
    const { rows } = await sql.query(
      `SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::float AS bytes FROM pg_class WHERE relkind = 'r' AND relname LIKE $1`,
      [like],
    )
    return Number(rows[0].bytes)
  }
  await wait(3000)
  const idle = memory()
  print(
    `PostgreSQL and Redis beside it: ${idle} MB idle, ${Math.round(status(pid, 'VmHWM'))} MB at the peak of the first start`,
  )

  const keys = Array.from({ length: KEYS }, newApiKey)
  const hash = keyHasher(SALT_KEY)
  await sql.query(
    `INSERT INTO gateway_team (team_id, max_budget, rpm_limit) SELECT 'team-' || n, 1000000, 1000000 FROM generate_series(0, 99) AS n`,
  )
  const before = await sizeOf('gateway_key')
  await sql.query(
    `INSERT INTO gateway_key (key_id, key_hash, key_name, team_id, rpm_limit, max_budget, budget_duration)
     SELECT 'key-' || at, hash, 'key ' || at, 'team-' || at % 100, 60, 10, '30d'
     FROM unnest($1::text[]) WITH ORDINALITY AS given (hash, at)`,
    [keys.map(hash)],
  )
  print(`a key in PostgreSQL: ${Math.round(((await sizeOf('gateway_key')) - before) / KEYS)} bytes`)

  await many(500, 8, () => call(MASTER_KEY, '/v1/chat/completions', chat()))
  const first = await redisBytes()
  const keyAt = (at: number) => keys[at] as string
  await many(KEYS, 16, (at) => call(keyAt(at), '/v1/chat/completions', chat()))
  const after = await redisBytes()
  await wait(5000)
  print(
    `${KEYS} keys with limits and budgets that have called once: ${memory()} MB, and ${Math.round((after - first) / KEYS)} bytes of Redis each`,
  )
  const kinds: Record<string, (at: number) => Promise<number>> = {
    'a chat, 600 bytes back': () => call(MASTER_KEY, '/v1/chat/completions', chat()),
    'a chat with a virtual key, limits and budgets': (at) => call(keyAt(at % 100), '/v1/chat/completions', chat()),
    'a stream of 100 pieces': () => call(MASTER_KEY, '/v1/chat/completions', chat('Hello', { stream: true })),
    'a chat of 100 kB': () => call(MASTER_KEY, '/v1/chat/completions', chat('word '.repeat(20_000))),
    'Messages, translated to chat and back': () => call(MASTER_KEY, '/v1/messages', { ...chat(), max_tokens: 200 }),
    'Responses, translated and kept': () => call(MASTER_KEY, '/v1/responses', { model: 'm', input: 'Hello' }),
  }
  await sql.query(
    `UPDATE gateway_key SET rpm_limit = NULL WHERE key_id IN (SELECT 'key-' || n FROM generate_series(1, 100) AS n)`,
  )
  await wait(25_000)
  let unit = 0
  for (const [name, one] of Object.entries(kinds)) {
    const count = name.includes('stream') ? CALLS_OF_A_KIND / 4 : CALLS_OF_A_KIND
    await many(count / 4, 16, one)
    const began = ticks(pid)
    await many(count, 16, one)
    await wait(1500)
    const each = (ticks(pid) - began) / count
    if (unit === 0) unit = each
    print(`processor time of ${name}: ${(each / unit).toFixed(1)}`)
  }

  const quiet = memory()
  await many(STREAMS, 50, () => call(MASTER_KEY, '/v1/chat/completions', chat('long', { stream: true }), true))
  await wait(10_000)
  print(`${STREAMS} open streams: ${memory()} MB, ${quiet} MB before them`)
  for (const one of open) one.destroy()
  await wait(5000)
  const { rows } = await sql.query('SELECT count(*)::float AS calls FROM gateway_spend')
  const calls = Number(rows[0].calls)
  const gigabytes = (bytes: number) => ((bytes / calls) * 1e6) / 1024 ** 3
  print(
    `${calls} calls in the ledger: a million rows of calls ${gigabytes(await sizeOf('gateway_spend')).toFixed(2)} GB with indexes, their sums ${gigabytes((await sizeOf('gateway_spend%')) - (await sizeOf('gateway_spend'))).toFixed(2)} GB`,
  )
  print(`at the end: ${memory()} MB, ${Math.round(status(pid, 'VmHWM'))} MB at the most`)
  await sql.end()
  client.destroy()
} finally {
  for (const child of children) child.kill('SIGKILL')
  provider.closeAllConnections()
  provider.close()
  agent.destroy()
  await redis.stop()
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}
