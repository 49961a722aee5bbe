import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MASTER_KEY } from '../../support/gateway.ts'

/** A start among all other tests, on a machine that does many things at once. */
const START_MS = 100_000

const root = new URL('../../../', import.meta.url)

/** What a gateway is started from, and where all of them share what Node has compiled of it. */
interface Program {
  readonly program: string
  readonly compiled: string
}

export const SOURCES: Program = {
  program: 'src/node.ts',
  compiled: fileURLToPath(new URL('node_modules/.cache/tests', root)),
}

async function built(): Promise<Program> {
  const { builtGateway } = await import('../../support/built-gateway.ts')
  return builtGateway()
}

/** The gateway as `npm start` runs it: a process of its own. */
export interface GatewayProcess {
  readonly pid: number
  /** Until the greeting, or the end. */
  greeted(): Promise<string>
  /** `http://127.0.0.1:…`, as soon as it listens. */
  base(): Promise<string>
  fetch(path: string, init?: RequestInit): Promise<Response>
  chat(body: object, init?: RequestInit): Promise<Response>
  /** JSON log lines of that event so far. */
  logged(event: string): Record<string, unknown>[]
  /** Resolves with the lines of that event, as soon as there are so many. */
  untilLogged(event: string, count: number, timeoutMs?: number): Promise<Record<string, unknown>[]>
  output(): string
  errors(): string
  /** Whether its output is read from now on. */
  reads(goesOn: boolean): void
  kill(signal: NodeJS.Signals): void
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
}

export interface Place {
  readonly folder: string
  start(options?: { yaml?: string; env?: Record<string, string>; nodeOptions?: string[] }): Promise<GatewayProcess>
  /** Ends what still runs. */
  end(): Promise<void>
  /** And removes the folder. */
  clear(): Promise<void>
}

/** A temporary data folder, and gateways started on it: of the build, unless something else is given. */
export async function place(from?: Program): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-process-'))
  const children: ChildProcess[] = []
  async function end(): Promise<void> {
    const running = children.splice(0).filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
    const ended = running.map((child) => once(child, 'exit'))
    for (const child of running) child.kill('SIGKILL')
    await Promise.all(ended)
  }
  return {
    folder,
    end,
    async start({ yaml = 'model_list: []\n', env = {}, nodeOptions = [] } = {}) {
      const config = join(folder, 'gateway.yaml')
      await writeFile(config, yaml)
      const { program, compiled } = from ?? (await built())
      const child = spawn(process.execPath, [...nodeOptions, program], {
        cwd: root,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          PATH: process.env.PATH ?? '',
          NODE_COMPILE_CACHE: compiled,
          PORT: '0',
          GATEWAY_CONFIG: config,
          GATEWAY_DATA_DIR: join(folder, 'data'),
          GATEWAY_MASTER_KEY: MASTER_KEY,
          ...env,
        },
      })
      children.push(child)
      return observed(child, env.GATEWAY_MASTER_KEY ?? MASTER_KEY)
    },
    async clear() {
      await end()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function observed(child: ChildProcess, key: string): GatewayProcess {
  let output = ''
  let errors = ''
  let isOver = false
  /** Of each event, read once as it comes: some tests look after each of thousands of calls. */
  const lines = new Map<unknown, Record<string, unknown>[]>()
  let unread = ''
  function read(text: string): void {
    const pieces = (unread + text).split('\n')
    unread = pieces.pop() ?? ''
    for (const piece of pieces.filter((one) => one.startsWith('{'))) {
      const line = JSON.parse(piece) as Record<string, unknown>
      const alike = lines.get(line.event)
      if (alike) alike.push(line)
      else lines.set(line.event, [line])
    }
  }
  const waiting = new Set<() => void>()
  const look = () => {
    for (const again of waiting) again()
  }
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    output += text
    read(text)
    look()
  })
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    errors += text
  })
  const ended = once(child, 'close').then(([code, signal]) => {
    isOver = true
    look()
    return { code, signal }
  })
  const logged = (event: string) => [...(lines.get(event) ?? [])]
  async function until(awaited: () => boolean, what: string, timeoutMs = 30_000): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const again = () => {
      if (isOver || awaited()) resolve()
    }
    const timer = setTimeout(resolve, timeoutMs)
    waiting.add(again)
    again()
    await promise
    clearTimeout(timer)
    waiting.delete(again)
    if (!awaited()) throw new Error(`no ${what}: ${output}${errors}`)
  }
  let port: unknown
  const listens = () => {
    port ??= logged('listening')[0]?.port ?? /^gateway +http:\/\/localhost:(\d+)/m.exec(output)?.[1]
    return port !== undefined
  }
  const base = async () => {
    await until(listens, 'listening', START_MS)
    return `http://127.0.0.1:${port}`
  }
  const call = async (path: string, init: RequestInit = {}) =>
    fetch((await base()) + path, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } })

  return {
    pid: child.pid as number,
    base,
    fetch: call,
    chat: (body, init = {}) =>
      call('/v1/chat/completions', {
        method: 'POST',
        body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }], ...body }),
        ...init,
        headers: { 'content-type': 'application/json', ...init.headers },
      }),
    async greeted() {
      await until(() => /^stores .*\n/m.test(output), 'greeting', START_MS)
      // The key follows in the same write.
      return output.slice(output.search(/^gateway /m))
    },
    logged,
    async untilLogged(event, count, timeoutMs) {
      await until(() => logged(event).length >= count, `${count} ${event}`, timeoutMs)
      return logged(event)
    },
    output: () => output,
    errors: () => errors,
    reads: (goesOn) => void (goesOn ? child.stdout?.resume() : child.stdout?.pause()),
    kill: (signal) => child.kill(signal),
    ended,
  }
}
