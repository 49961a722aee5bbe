import cluster, { type Worker } from 'node:cluster'
import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '../../../lib/log.ts'
import { describeError } from '../../../lib/log.ts'
import { atMost } from '../../../lib/timers/at-most.ts'
import { combined, type Gauges, growing } from '../../../telemetry/metrics/process-gauges.ts'
import type { Measured, ProcessPool } from '../../../telemetry/metrics/scopes.ts'
import type { LineEnd } from './line-writer.node.ts'
import { passLines } from './passed-lines.node.ts'
import { onStop } from './stop-signals.node.ts'

/** The messages between members and their leader. */
type Message =
  | { readonly kind: 'ready'; readonly port: number; readonly setupToken?: string | undefined }
  /** A member asks for what all members have measured; the leader asks a member for its own. */
  | { readonly kind: 'gather'; readonly id: number }
  | { readonly kind: 'measured'; readonly id: number; readonly measured: Measured }

/** This process as one of several that share a port. */
export interface Member extends ProcessPool {
  /** Reports to the leader that this process serves requests. */
  ready(port: number, setupToken?: string): void
  /** Calls `act` when the leader has ended before this process, which then gets no new connections and no signal. */
  whenAlone(act: () => void): void
}

/** The time that a metrics page waits for a busy process. */
const GATHER_MS = 1000
/** The interval at which the leader collects counters. A process that dies loses the counts since the last time. */
const COLLECT_MS = 1000
/** The pause before a process that died is replaced. */
const RESTART_MS = 1000

export function groupMember(): Member | undefined {
  const { worker } = cluster
  if (!worker) return undefined
  let own = async (): Promise<Measured> => ({ counters: {}, gauges: {} })
  let nextId = 0
  let all: Measured | undefined
  const waiting = new Map<number, (measured: Measured) => void>()
  const send = (message: Message) => worker.isConnected() && worker.send(message)
  worker.on('message', (message: Message) => {
    if (message.kind === 'gather') own().then((measured) => send({ kind: 'measured', id: message.id, measured }))
    if (message.kind === 'measured') waiting.get(message.id)?.(message.measured)
  })
  return {
    ready: (port, setupToken) => void send({ kind: 'ready', port, setupToken }),
    whenAlone(act) {
      worker.on('disconnect', () => {
        // Otherwise Node would end this process at once, and cut its calls.
        worker.exitedAfterDisconnect = true
        act()
      })
    },
    measuring(measured) {
      own = measured
    },
    async gathered() {
      const id = nextId++
      const answer = new Promise<Measured>((resolve) => waiting.set(id, resolve))
      send({ kind: 'gather', id })
      // The leader's own wait for members is shorter. Without an answer the last sums are used: counters must not
      // decrease.
      const late = wait(2 * GATHER_MS, undefined, { ref: false })
      all = (await Promise.race([answer, late])) ?? all ?? (await own())
      waiting.delete(id)
      return all
    },
  }
}

/** The time for the last lines of members. */
const LAST_LINES_MS = 1000

/** Leads the members: starts them, replaces those that die, forwards signals, passes their lines on, and sums their
 *  counters. Resolves with the exit code when all have ended. */
export async function leadGroup(options: {
  readonly count: number
  readonly log: Log
  /** Where the lines of members go. */
  readonly output: LineEnd
  /** Called when every member is ready. */
  readonly onReady: (port: number, setupToken: string | undefined) => void
}): Promise<number> {
  const { count, log, output, onReady } = options
  const over = Promise.withResolvers<number>()
  let readyCount = 0
  let setupToken: string | undefined
  let stopping: NodeJS.Signals | undefined
  let exitCode = 0
  const group = groupMeasured()
  const passing = new Set<Promise<void>>()

  // The list includes dead members until their channel is closed.
  const members = () => Object.values(cluster.workers ?? {}).filter((worker) => worker && !worker.isDead()) as Worker[]

  function stop(signal: NodeJS.Signals): void {
    stopping = signal
    for (const { process } of members()) process.kill(signal)
    if (members().length === 0) over.resolve(exitCode)
  }

  function start(): Worker {
    const worker = cluster.fork()
    worker.on('message', (message: Message) => {
      if (message.kind === 'gather') void gather(worker, message.id)
      if (message.kind === 'ready') setupToken ??= message.setupToken
      if (message.kind === 'ready' && ++readyCount === count) onReady(message.port, setupToken)
      // The others start when the first is ready, so that a mistake is reported once.
      if (message.kind === 'ready' && readyCount === 1) for (let more = 1; more < count; more++) start()
    })
    worker.on('error', (error) => log.error('process.failed', { pid: worker.process.pid, error: describeError(error) }))
    worker.on('exit', (code, signal) => void ended(worker, code, signal))
    pass(worker)
    return worker
  }

  function pass({ process: { pid, stdout } }: Worker): void {
    if (!stdout) return
    const failed = (error: unknown) => log.error('process.unread', { pid, error: describeError(error) })
    const passed = passLines(stdout, output)
      .catch(failed)
      .finally(() => passing.delete(passed))
    passing.add(passed)
  }

  async function ended({ id, process }: Worker, code: number | null, signal: string | null): Promise<void> {
    group.departed(id)
    if (stopping || readyCount < count) {
      // A member that is stopped before it is loaded ends by the signal itself.
      exitCode ||= code ?? (signal === stopping ? 0 : 1)
      if (!stopping) stop('SIGTERM')
      else if (members().length === 0) over.resolve(exitCode)
      return
    }
    log.error('process.died', { pid: process.pid, code, signal })
    await wait(RESTART_MS)
    if (!stopping) start()
  }

  async function gather(asker: Worker, id: number): Promise<void> {
    await collect(id, asker.id)
    const measured = group.together()
    if (asker.isConnected()) asker.send({ kind: 'measured', id, measured } satisfies Message)
  }

  /** Asks every member for what it has measured. */
  async function collect(id: number, asker: number): Promise<void> {
    await Promise.all(
      members().map(async (worker) => {
        const measured = await measuredBy(worker, id, asker)
        if (measured && !worker.isDead()) group.reported(worker.id, measured)
      }),
    )
  }

  let collections = 0
  const collecting = setInterval(() => void collect(++collections, LEADER), COLLECT_MS)
  over.promise.then(() => clearInterval(collecting))
  onStop(stop)
  start()
  const code = await over.promise
  await atMost(LAST_LINES_MS, Promise.all(passing))
  return code
}

/** What all members have measured. The sum of counters never decreases, nor that of processor time: a silent member
 *  counts with its last report, even after it has ended. Other gauges are those of the members that are there. */
export function groupMeasured() {
  const latest = new Map<number, Measured>()
  const gone: Record<string, number> = {}
  let goneGauges: Gauges = {}
  const add = (to: Record<string, number>, counters: Measured['counters'] = {}) => {
    for (const name in counters) to[name] = (to[name] ?? 0) + (counters[name] as number)
  }
  return {
    reported(member: number, measured: Measured) {
      latest.set(member, measured)
    },
    departed(member: number) {
      const last = latest.get(member)
      add(gone, last?.counters)
      goneGauges = combined([goneGauges, growing(last?.gauges ?? {})])
      latest.delete(member)
    },
    together(): Measured {
      const counters = { ...gone }
      for (const measured of latest.values()) add(counters, measured.counters)
      return { counters, gauges: combined([goneGauges, ...[...latest.values()].map(({ gauges }) => gauges)]) }
    },
  }
}

/** The leader's id as an asker; the ids of members begin with 1. */
const LEADER = 0

/** What a member has measured; undefined if it does not answer. Simultaneous questions have different ids. */
async function measuredBy(worker: Worker, id: number, asker: number): Promise<Measured | undefined> {
  if (!worker.isConnected()) return undefined
  const question = id * 10_000 + asker
  const answered = Promise.withResolvers<Measured | undefined>()
  const listen = (message: Message) => {
    if (message.kind === 'measured' && message.id === question) answered.resolve(message.measured)
  }
  worker.on('message', listen)
  worker.send({ kind: 'gather', id: question } satisfies Message)
  const late = wait(GATHER_MS, undefined, { ref: false })
  const measured = await Promise.race([answered.promise, late])
  worker.off('message', listen)
  return measured
}
