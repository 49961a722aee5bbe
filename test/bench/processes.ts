import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { openSync, readdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'

/** The servers under measurement have one core, the load and the far end the other. */
export const SERVER_CORE = 0
export const LOAD_CORE = 1

export const canPin = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0

export interface StartOptions {
  readonly core: number
  readonly env?: Readonly<Record<string, string>>
  /** Where its output goes; without one, standard output is a pipe and the rest is dropped. */
  readonly log?: string
  readonly cwd?: string
}

const started = new Set<ChildProcess>()

/** Starts a program on one core; `stopAll` ends it. */
export function start(command: string, args: readonly string[], options: StartOptions): ChildProcess & { pid: number } {
  const [program, ...rest] = canPin ? ['taskset', '-c', String(options.core), command, ...args] : [command, ...args]
  const log = options.log === undefined ? undefined : openSync(options.log, 'a')
  const child = spawn(program as string, rest, {
    cwd: options.cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...options.env },
    stdio: ['ignore', log ?? 'pipe', log ?? 'ignore'],
  })
  child.on('error', () => {})
  if (child.pid === undefined) throw new Error(`cannot start ${command}`)
  started.add(child)
  child.once('exit', () => started.delete(child))
  return child as ChildProcess & { pid: number }
}

/** Puts a process that was started otherwise on one core, with every thread that it has. */
export function pin(pid: number, core: number): void {
  if (canPin) spawnSync('taskset', ['-a', '-p', '-c', String(core), String(pid)])
}

/** Runs a program to its end and gives back what it printed. */
export async function run(command: string, args: readonly string[], core: number, timeoutMs: number): Promise<string> {
  const env = Object.fromEntries(Object.entries(process.env).map(([name, value]) => [name, value ?? '']))
  const child = start(command, args, { core, env })
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
  let printed = ''
  child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
    printed += piece
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  clearTimeout(timer)
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${printed.slice(-500)}`)
  return printed
}

const endings = new Map<string, () => Promise<void>>()

/** Has `stopAll` end what `start` has not started. */
export function atEnd(name: string, stop: () => Promise<void>): void {
  endings.set(name, stop)
}

export async function stopAll(): Promise<void> {
  const children = [...started]
  for (const child of children) child.kill('SIGTERM')
  for (let turn = 0; turn < 50 && started.size > 0; turn++) await wait(100)
  for (const child of started) child.kill('SIGKILL')
  await Promise.allSettled([...endings.values()].map((stop) => stop()))
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Waits until the address answers at all; throws with the end of the log when its process dies or time is over. */
export async function answering(url: string, child: ChildProcess, log: string, timeoutMs = 20_000): Promise<void> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const answered = await fetch(url, { signal: AbortSignal.timeout(1000) }).then(
      (response) => response.body?.cancel().then(() => response.status < 500),
      () => false,
    )
    if (answered) return
    if (child.exitCode !== null || Date.now() > deadline) {
      throw new Error(`not answering at ${url}: ${lastWords(readFileSync(log, 'utf8'))}`)
    }
    await wait(50)
  }
}

/** The line of a log that most likely says why, else its last one. */
function lastWords(text: string): string {
  const lines = text.trim().split('\n')
  return lines.findLast((line) => /error\b.*:/i.test(line)) ?? lines.at(-1) ?? ''
}

/** CPU seconds that these processes and their descendants have used so far. */
export function cpuSeconds(pids: readonly number[]): number {
  const ticks = withDescendants(pids).map((fields) => [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0))
  return ticks.reduce((sum, one) => sum + one, 0) / TICKS_PER_SECOND
}

/** How much of all cores is in use for a second: what others do on the machine spoils the figures. */
export async function busyShare(): Promise<number> {
  const ticks = () =>
    (readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '').trim().split(/\s+/).slice(1, 9).map(Number)
  const before = ticks()
  await wait(1000)
  const spent = ticks().map((value, at) => value - (before[at] ?? 0))
  const idle = (spent[3] ?? 0) + (spent[4] ?? 0)
  return 1 - idle / spent.reduce((sum, value) => sum + value, 0)
}

/** Memory that they hold now. */
export function residentMegabytes(pids: readonly number[]): number {
  return withDescendants(pids).reduce((sum, fields) => sum + (Number(fields[21]) * 4096) / 2 ** 20, 0)
}

const TICKS_PER_SECOND = Number(spawnSync('getconf', ['CLK_TCK']).stdout?.toString() || 100)

/** The fields of /proc/<pid>/stat behind the name, which may itself hold spaces; [0] is the state, [1] the parent. */
function withDescendants(roots: readonly number[]): string[][] {
  const stats = new Map<number, string[]>()
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    try {
      const text = readFileSync(`/proc/${entry}/stat`, 'utf8')
      stats.set(Number(entry), text.slice(text.lastIndexOf(')') + 2).split(' '))
    } catch {
      // It ended in between.
    }
  }
  const family = new Set(roots)
  let size = 0
  while (size < family.size) {
    size = family.size
    for (const [pid, fields] of stats) if (family.has(Number(fields[1]))) family.add(pid)
  }
  return [...family].map((pid) => stats.get(pid)).filter((fields) => fields !== undefined)
}
