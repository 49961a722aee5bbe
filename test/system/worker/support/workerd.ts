import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { WorkerModules } from './worker-modules.ts'

export interface Workerd {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** Milliseconds from the start of the process until it listened. */
  readonly startedInMs: number
  /** Everything that it printed. */
  output(): string
  residentBytes(): Promise<number>
  stop(): Promise<void>
}

export interface WorkerdOptions {
  readonly queue?: 'away' | 'taking'
  readonly inspectorPort?: number
  readonly v8Flags?: readonly string[]
  /** A folder for the storage of the Durable Object with the shared store, which is bound only then. */
  readonly storeFolder?: string
}

/** workerd itself, with nothing of wrangler's between it and the client: here a client that leaves is seen to leave. Its
 *  queue is away, or takes everything and delivers nothing. */
export async function startWorkerd(
  modules: WorkerModules,
  variables: Record<string, string>,
  { queue = 'away', inspectorPort, v8Flags = [], storeFolder }: WorkerdOptions = {},
): Promise<Workerd> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-workerd-'))
  const { default: binary } = createRequire(import.meta.url)('workerd') as { default: string }
  await Promise.all(filesOf(modules).map(({ text }, index) => writeFile(join(folder, String(index)), text)))
  await writeFile(
    join(folder, 'config.capnp'),
    capnp(modules, variables, { queue, v8Flags, storeFolder, ...(await compatibility()) }),
  )

  const startedAt = performance.now()
  const inspecting = inspectorPort === undefined ? [] : [`--inspector-addr=127.0.0.1:${inspectorPort}`]
  const options = ['--experimental', '--control-fd=3', ...inspecting]
  const child = spawn(binary, ['serve', ...options, join(folder, 'config.capnp')], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const stopWithUs = () => child.kill('SIGKILL')
  process.once('exit', stopWithUs)
  let printed = ''
  child.stdout?.on('data', (text: Buffer) => (printed += text))
  child.stderr?.on('data', (text: Buffer) => (printed += text))
  const port = await listening(child, () => printed)
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    pid: child.pid as number,
    startedInMs: performance.now() - startedAt,
    output: () => printed,
    async residentBytes() {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
      return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) * 1024
    },
    async stop() {
      process.off('exit', stopWithUs)
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit')
        child.kill('SIGKILL')
        await exited
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function listening(child: ChildProcess, printed: () => string): Promise<number> {
  const control = child.stdio[3] as Readable
  const ended = once(child, 'exit').then(() => {
    throw new Error(`workerd ended before it listened: ${printed()}`)
  })
  let text = ''
  for (;;) {
    const [piece] = await Promise.race([once(control, 'data'), ended])
    text += piece
    const port = /"event":"listen".*"port":(\d+)/.exec(text)?.[1]
    if (port === undefined) continue
    ended.catch(() => {})
    return Number(port)
  }
}

interface Compatibility {
  readonly date: string
  readonly flags: readonly string[]
}

/** As it is deployed. */
async function compatibility(): Promise<Compatibility> {
  const toml = await readFile('wrangler.toml', 'utf8')
  const date = /^compatibility_date = "(.*)"$/m.exec(toml)?.[1]
  const flags = /^compatibility_flags = (\[.*\])$/m.exec(toml)?.[1]
  if (date === undefined || flags === undefined) throw new Error('wrangler.toml has no compatibility date or flags')
  return { date, flags: JSON.parse(flags) }
}

function filesOf({ script, beside = [], texts }: WorkerModules) {
  const scripts = [script, ...beside].map((module) => ({ ...module, kind: 'esModule' }))
  return [...scripts, ...texts.map((module) => ({ ...module, kind: 'text' }))]
}

function capnp(
  worker: WorkerModules,
  variables: Record<string, string>,
  {
    queue,
    v8Flags,
    storeFolder,
    date,
    flags,
  }: Compatibility &
    Required<Pick<WorkerdOptions, 'queue' | 'v8Flags'>> & {
      storeFolder: string | undefined
    },
): string {
  const quoted = (text: string) => JSON.stringify(text)
  const modules = filesOf(worker).map(({ name, kind }, at) => `(name = ${quoted(name)}, ${kind} = embed "${at}")`)
  const bindings = [
    ...Object.entries(variables).map(([name, value]) => `(name = ${quoted(name)}, text = ${quoted(value)})`),
    `(name = "QUEUE", queue = "${queue}")`,
    `(name = "WAKE_UPS", queue = "${queue}")`,
    '(name = "BLOBS", r2Bucket = "away")',
    ...(storeFolder === undefined ? [] : ['(name = "SHARED_STORE", durableObjectNamespace = "SharedStoreObject")']),
  ]
  const objects = `
  durableObjectNamespaces = [(className = "SharedStoreObject", uniqueKey = "shared-store", enableSql = true)],
  durableObjectStorage = (localDisk = "store"),`
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "gateway", worker = .gateway),
    (name = "away", worker = .away),
    (name = "taking", worker = .taking),
    (name = "internet", network = (allow = ["private"])),
    ${storeFolder === undefined ? '' : `(name = "store", disk = (path = ${quoted(storeFolder)}, writable = true)),`}
  ],
  v8Flags = [${v8Flags.map(quoted).join(', ')}],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "gateway")],
);
const gateway :Workerd.Worker = (
  modules = [${modules.join(', ')}],
  bindings = [${bindings.join(', ')}],
  compatibilityDate = ${quoted(date)},
  compatibilityFlags = [${flags.map(quoted).join(', ')}],${storeFolder === undefined ? '' : objects}
);
const away :Workerd.Worker = (
  modules = [(name = "away", esModule = "export default { fetch() { return new Response(null, { status: 503 }) } }")],
  compatibilityDate = ${quoted(date)},
);
const taking :Workerd.Worker = (
  modules = [(name = "taking", esModule = "export default { async fetch(request) { await request.arrayBuffer(); return Response.json({ metadata: { metrics: { backlogCount: 0, backlogBytes: 0, oldestMessageTimestamp: 0 } } }) } }")],
  compatibilityDate = ${quoted(date)},
);
`
}
