import cluster, { type Worker } from 'node:cluster'
import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '../../../lib/log.ts'
import { describeError } from '../../../lib/log.ts'

/** The messages between members and their leader. */
type Message =
  | { readonly kind: 'ready'; readonly port: number; readonly setupToken?: string | undefined }
  /** A member asks for the counters of all members; the leader asks for those of a member. */
  | { readonly kind: 'gather'; readonly id: number }
  | { readonly kind: 'counters'; readonly id: number; readonly counters: Record<string, number> }

/** This process as one of several that share a port. */
export interface Member {
  /** Reports to the leader that this process serves requests. */
  ready(port: number, setupToken?: string): void
  /** Sets the source of this process's counters, which the leader asks for. */
  counting(own: () => Record<string, number>): void
  /** Resolves with the sums of all processes' counters. */
  gathered(): Promise<Record<string, number>>
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
  let own: () => Record<string, number> = () => ({})
  let nextId = 0
  let all: Record<string, number> | undefined
  const waiting = new Map<number, (counters: Record<string, number>) => void>()
  const send = (message: Message) => worker.send(message)
  worker.on('message', (message: Message) => {
    if (message.kind === 'gather') send({ kind: 'counters', id: message.id, counters: own() })
    if (message.kind === 'counters') waiting.get(message.id)?.(message.counters)
  })
  return {
    ready: (port, setupToken) => void send({ kind: 'ready', port, setupToken }),
    counting(counters) {
      own = counters
    },
    async gathered() {
      const id = nextId++
      const answer = new Promise<Record<string, number>>((resolve) => waiting.set(id, resolve))
      send({ kind: 'gather', id })
      // The leader's own wait for members is shorter. Without an answer the last sums are used: counters must not
      // decrease.
      const late = wait(2 * GATHER_MS, undefined, { ref: false })
      all = (await Promise.race([answer, late])) ?? all ?? own()
      waiting.delete(id)
      return all
    },
  }
}

/** Leads the members: starts them, replaces those that die, forwards signals, and sums their counters. Resolves with
 *  the exit code when all have ended. */
export async function leadGroup(options: {
  readonly count: number
  readonly log: Log
  /** Called when every member is ready. */
  readonly onReady: (port: number, setupToken: string | undefined) => void
}): Promise<number> {
  const { count, log, onReady } = options
  const over = Promise.withResolvers<number>()
  let readyCount = 0
  let setupToken: string | undefined
  let stopping = false
  let exitCode = 0
  const counted = groupCounters()

  // The list includes dead members until their channel is closed.
  const members = () => Object.values(cluster.workers ?? {}).filter((worker) => worker && !worker.isDead()) as Worker[]

  function stop(signal: NodeJS.Signals): void {
    stopping = true
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
    return worker
  }

  async function ended({ id, process }: Worker, code: number | null, signal: string | null): Promise<void> {
    counted.departed(id)
    if (stopping || readyCount < count) {
      exitCode ||= code ?? 1
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
    const counters = counted.sum()
    if (asker.isConnected()) asker.send({ kind: 'counters', id, counters } satisfies Message)
  }

  /** Asks every member for its counters. */
  async function collect(id: number, asker: number): Promise<void> {
    await Promise.all(
      members().map(async (worker) => {
        const counters = await countersOf(worker, id, asker)
        if (counters && !worker.isDead()) counted.reported(worker.id, counters)
      }),
    )
  }

  let collections = 0
  const collecting = setInterval(() => void collect(++collections, LEADER), COLLECT_MS)
  over.promise.then(() => clearInterval(collecting))
  start()
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  return over.promise
}

/** The sum of all members' counters. It never decreases: a silent member counts with its last report, even after it has
 *  ended. */
export function groupCounters() {
  const latest = new Map<number, Record<string, number>>()
  const gone: Record<string, number> = {}
  const add = (to: Record<string, number>, counters: Record<string, number>) => {
    for (const name in counters) to[name] = (to[name] ?? 0) + (counters[name] as number)
  }
  return {
    reported(member: number, counters: Record<string, number>) {
      latest.set(member, counters)
    },
    departed(member: number) {
      add(gone, latest.get(member) ?? {})
      latest.delete(member)
    },
    sum(): Record<string, number> {
      const sum = { ...gone }
      for (const counters of latest.values()) add(sum, counters)
      return sum
    },
  }
}

/** The leader's id as an asker; the ids of members begin with 1. */
const LEADER = 0

/** The counters of a member; undefined if it does not answer. Simultaneous questions have different ids. */
async function countersOf(worker: Worker, id: number, asker: number): Promise<Record<string, number> | undefined> {
  if (!worker.isConnected()) return undefined
  const question = id * 10_000 + asker
  const answered = Promise.withResolvers<Record<string, number> | undefined>()
  const listen = (message: Message) => {
    if (message.kind === 'counters' && message.id === question) answered.resolve(message.counters)
  }
  worker.on('message', listen)
  worker.send({ kind: 'gather', id: question } satisfies Message)
  const late = wait(GATHER_MS, undefined, { ref: false })
  const counters = await Promise.race([answered.promise, late])
  worker.off('message', listen)
  return counters
}
