import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { buildWorkerModules, withConfig } from '../../system/worker/support/worker-modules.ts'
import { startWorkerd } from '../../system/worker/support/workerd.ts'
import { bearer, configuration, governedKey, newKey } from '../gateway-server.ts'
import { answering, freePort, LOAD_CORE, pin, SERVER_CORE, start } from '../processes.ts'
import type { Place, Running, Target } from './target.ts'

/** Ours on Workers' own runtime, called with a virtual key: every call decided and settled in Redis over HTTP. What
 *  stands for the services at the other end of the line, Redis, PostgreSQL and the queue, is not counted. */
export const workerd: Target = {
  name: 'workerd',
  ours: true,
  start: async (place) => governedWorker(place, await storesOverHttp(place)),
}

/** The same with its shared store in a Durable Object, which works inside the process and is counted with it. */
export const workerdObject: Target = {
  name: 'workerd-object',
  ours: true,
  onlyByName: true,
  async start(place) {
    const { REDIS_URL: _url, REDIS_TOKEN: _token, ...stores } = await storesOverHttp(place)
    const storeFolder = join(place.folder, 'object')
    await mkdir(storeFolder)
    return governedWorker(place, stores, storeFolder)
  },
}

async function governedWorker(
  place: Place,
  stores: Readonly<Record<string, string>>,
  storeFolder?: string,
): Promise<Running> {
  const masterKey = newKey()
  const modules = withConfig(await buildWorkerModules(), configuration(place.upstreamUrl))
  const variables = { ...stores, GATEWAY_MASTER_KEY: masterKey, GATEWAY_SALT_KEY: newKey() }
  const inspectorPort = place.inspected ? await freePort() : undefined
  const inspected = inspectorPort === undefined ? {} : { inspectorPort }
  const kept = storeFolder === undefined ? {} : { storeFolder }
  const worker = await startWorkerd(modules, variables, { queue: 'taking', ...inspected, ...kept })
  pin(worker.pid, SERVER_CORE)
  const key = await governedKey({ root: worker.url, headers: bearer(masterKey) })
  return { url: `${worker.url}/v1`, headers: bearer(key), pids: [worker.pid], inspectorPort, stop: worker.stop }
}

/** The floor of that runtime: the least that a worker can do between a client and the far end. */
export const workerdProxy: Target = {
  name: 'workerd-proxy',
  async start({ upstreamUrl }) {
    const worker = await startWorkerd(
      { script: PROXY, texts: [], sources: [] },
      { UPSTREAM: new URL(upstreamUrl).origin },
    )
    pin(worker.pid, SERVER_CORE)
    return { url: `${worker.url}/v1`, headers: {}, pids: [worker.pid], stop: worker.stop }
  },
}

const PROXY = {
  name: 'proxy',
  text: `export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url)
    const headers = { 'content-type': 'application/json' }
    const upstream = await fetch(env.UPSTREAM + pathname, { method: request.method, headers, body: request.body })
    return new Response(upstream.body, { status: upstream.status, headers: upstream.headers })
  },
}`,
}

/** The floor of a governed call in that runtime: what `workerd-proxy` does, and to the same places as ours one question
 *  before it, one message and one word to the store after it, of about the same sizes. Streams go through its hands, as
 *  they must where their usage is read. Nothing is decided, and nothing is read. */
export const workerdFloor: Target = {
  name: 'workerd-floor',
  onlyInFull: true,
  async start(place) {
    const stores = await storesOverHttp(place)
    const variables = { ...stores, UPSTREAM: new URL(place.upstreamUrl).origin }
    const worker = await startWorkerd({ script: FLOOR, texts: [], sources: [] }, variables, { queue: 'taking' })
    pin(worker.pid, SERVER_CORE)
    return { url: `${worker.url}/v1`, headers: {}, pids: [worker.pid], stop: worker.stop }
  },
}

const FLOOR = {
  name: 'floor',
  text: `const text = (bytes) => 'a'.repeat(bytes)
const command = (asked, told) => JSON.stringify(['EVAL', 'return ARGV[1]', '0', text(told), text(asked - told)])
const [ADMIT, SETTLE, RECORD] = [command(2000, 450), command(2000, 10), text(900)]
async function ask(env, body) {
  const headers = { authorization: 'Bearer ' + env.REDIS_TOKEN, 'content-type': 'application/json' }
  const response = await fetch(env.REDIS_URL, { method: 'POST', headers, body })
  return JSON.parse(await response.text())
}
async function relay(reader, writer) {
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) await writer.write(piece.value)
  await writer.close()
}
export default {
  async fetch(request, env, execution) {
    const { pathname } = new URL(request.url)
    const [body] = await Promise.all([request.arrayBuffer(), ask(env, ADMIT)])
    const headers = { 'content-type': 'application/json' }
    const upstream = await fetch(env.UPSTREAM + pathname, { method: request.method, headers, body })
    const settle = () => Promise.all([ask(env, SETTLE), env.QUEUE.send({ record: RECORD })])
    const { status, headers: head } = upstream
    if (!head.get('content-type').startsWith('text/event-stream')) {
      execution.waitUntil(settle())
      return new Response(upstream.body, { status, headers: head })
    }
    const { readable, writable } = new IdentityTransformStream()
    execution.waitUntil(relay(upstream.body.getReader(), writable.getWriter()).catch(() => {}).then(settle))
    return new Response(readable, { status, headers: head })
  },
}`,
}

async function storesOverHttp({ folder }: Place): Promise<Record<string, string>> {
  const log = join(folder, 'stores.log')
  const program = new URL('../../../src/runtimes/local/stores.node.ts', import.meta.url).pathname
  const child = start(process.execPath, [program], {
    core: LOAD_CORE,
    env: { GATEWAY_DATA_DIR: folder, REDIS_HTTP_PORT: '0', POSTGRES_HTTP_PORT: '0' },
  })
  let said = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  while (!/^DATABASE_HTTP_URL=.*\n/m.test(said)) {
    await Promise.race([once(child.stdout as NonNullable<typeof child.stdout>, 'data'), ended(child)])
  }
  await answering(/^REDIS_URL=(.*)$/m.exec(said)?.[1] ?? '', child, log)
  return Object.fromEntries(
    said
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/s).slice(0, 2)),
  )
}

async function ended(child: ReturnType<typeof start>): Promise<never> {
  await once(child, 'exit')
  throw new Error('the stores ended before they listened')
}
