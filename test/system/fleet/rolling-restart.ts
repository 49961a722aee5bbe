import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { MASTER_KEY } from '../../support/gateway.ts'
import { freshDatabase, startPostgres } from '../../support/postgres.ts'
import { startRedis } from '../../support/redis.ts'
import { startUpstream } from '../../support/scripted-upstream.ts'
import { readStream, spokenText } from '../../support/sse.ts'
import { answer, slowBetween } from '../../support/upstream/index.ts'

/** Two gateways behind the nginx of deploy/, which are replaced one after another under load; says what failed:
 *  `node test/system/fleet/rolling-restart.ts 200 50 2`, calls a second, open streams, rounds. Needs nginx, PostgreSQL and
 *  redis-server. */
const [rate = 200, streams = 50, rounds = 1] = process.argv.slice(2).map(Number)
const SENTENCE = 'one two three four five six seven eight nine ten eleven twelve'
const root = new URL('../../../', import.meta.url)
const deployed = (path: string) => readFileSync(new URL(`deploy/${path}`, root), 'utf8')
const print = (line: string) => process.stdout.write(`${line}\n`)

const folder = mkdtempSync(join(tmpdir(), 'gateway-fleet-'))
const [postgres, redis, upstream] = await Promise.all([startPostgres(), startRedis(), startUpstream()])
if (!postgres || !redis) throw new Error('PostgreSQL or redis-server is not installed')
const database = await freshDatabase(postgres.url)
upstream.script('streamed', [answer({ text: SENTENCE }, slowBetween({ ms: 500 }))])

const settings = deployed('gateway.yaml').split('model_list:')[0]
const deployment = (name: string) =>
  `  - {model_name: ${name}, gateway_params: {model: openai-compatible/${name}, api_base: '${upstream.url}/v1', api_key: none}}\n`
writeFileSync(join(folder, 'gateway.yaml'), `${settings}model_list:\n${deployment('whole')}${deployment('streamed')}`)

/** One of the two places, in which one process follows another. */
interface Seat {
  readonly port: number
  process: ChildProcess
}

async function seat(name: string): Promise<Seat> {
  const port = await freePort()
  const start = () =>
    spawn(process.execPath, ['--max-semi-space-size=32', 'dist/model-gateway.mjs'], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        PATH: process.env.PATH ?? '',
        PORT: String(port),
        GATEWAY_CONFIG: join(folder, 'gateway.yaml'),
        GATEWAY_DATA_DIR: join(folder, name),
        GATEWAY_MASTER_KEY: MASTER_KEY,
        GATEWAY_SALT_KEY: 'salt-of-the-fleet-4c1d-0123456789',
        DATABASE_URL: database,
        REDIS_URL: redis?.url ?? '',
      },
    })
  const made = { port, process: start(), start }
  await ready(port)
  return Object.assign(made, {
    async replace() {
      made.process.kill('SIGTERM')
      const [code] = await once(made.process, 'exit')
      if (code !== 0) throw new Error(`${name} ended with ${code}`)
      made.process = start()
      await ready(port)
    },
  })
}

async function ready(port: number): Promise<void> {
  for (let look = 0; look < 600; look++) {
    const response = await fetch(`http://127.0.0.1:${port}/health/readiness`).catch(() => undefined)
    if (response?.status === 200) return
    await wait(50)
  }
  throw new Error('the gateway is not ready after 30 s')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const failures: string[] = []
const counts = { whole: 0, streamed: 0 }
let stopping = false

async function call(base: string, model: 'whole' | 'streamed'): Promise<void> {
  try {
    const response = await fetch(`${base}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, stream: model === 'streamed', messages: [{ role: 'user', content: 'Hello' }] }),
    })
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
    if (model === 'whole') await response.json()
    else {
      const stream = await readStream(response)
      if (stream.broken || spokenText(stream) !== SENTENCE) throw new Error(`a stream broke: ${spokenText(stream)}`)
    }
    counts[model] += 1
  } catch (error) {
    failures.push(`${model}: ${error instanceof Error ? `${error.message} ${error.cause ?? ''}` : error}`)
  }
}

const seats = [await seat('one'), await seat('two')] as (Seat & { replace(): Promise<void> })[]
const port = await freePort()
const balancer = deployed('nginx/nginx.conf')
  .replace('server gateway-1:8787', `server 127.0.0.1:${seats[0]?.port}`)
  .replace('server gateway-2:8787', `server 127.0.0.1:${seats[1]?.port}`)
  .replace('listen 8787', `listen 127.0.0.1:${port}`)
  // Addresses are not looked up, and an older nginx does not know how.
  .replaceAll(' resolve;', ';')
writeFileSync(join(folder, 'nginx.conf'), `daemon off;\npid ${folder}/nginx.pid;\nerror_log stderr warn;\n${balancer}`)
const nginx = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'], {
  stdio: ['ignore', 'ignore', 'pipe'],
})
const warnings: string[] = []
nginx.stderr?.on('data', (text) => warnings.push(String(text)))
const base = `http://127.0.0.1:${port}`
await ready(port)

const running: Promise<unknown>[] = []
for (let index = 0; index < streams; index++) {
  running.push(
    (async () => {
      await wait((index / streams) * 6000)
      while (!stopping) await call(base, 'streamed')
    })(),
  )
}
const begunAt = performance.now()
let asked = 0
const pacing = setInterval(() => {
  for (; asked < ((performance.now() - begunAt) / 1000) * rate; asked++) running.push(call(base, 'whole'))
}, 5)

try {
  await wait(3000)
  for (let round = 0; round < rounds; round++) {
    for (const [index, one] of seats.entries()) {
      const startedAt = performance.now()
      await one.replace()
      print(`gateway ${index + 1} replaced in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
      await wait(3000)
    }
  }
  clearInterval(pacing)
  stopping = true
  await Promise.all(running)
  print(`${counts.whole} calls and ${counts.streamed} streams answered, ${failures.length} failed`)
  for (const failure of failures.slice(0, 10)) print(`  ${failure.slice(0, 300)}`)
  if (failures.length > 0) print(warnings.join('').slice(0, 3000))
} finally {
  nginx.kill()
  for (const one of seats) one.process.kill('SIGKILL')
  await Promise.all([postgres.stop(), redis.stop(), upstream.close()])
  rmSync(folder, { recursive: true, force: true })
}
process.exit(failures.length > 0 ? 1 : 0)
