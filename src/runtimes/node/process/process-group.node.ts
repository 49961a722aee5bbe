import cluster, { type Worker } from 'node:cluster'
import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '../../../lib/log.ts'
import { describeError } from '../../../lib/log.ts'

/** The messages between members and their leader. */
type Message =
  | { readonly kind: 'ready'; readonly port: number; readonly setupToken?: string | undefined }
  /** A member wants the counters of all; the leader wants those of a member. */
  | { readonly kind: 'gather'; readonly id: number }
  | { readonly kind: 'counters'; readonly id: number; readonly counters: Record<string, number> }

/** This process as one of several behind one port. */
export interface Member {
  /** Tells the leader that requests are answered. */
  ready(port: number, setupToken?: string): void
  /** Says what this process counts, whenever another one asks. */
  counting(own: () => Record<string, number>): void
  /** What all processes together have counted. */
  gathered(): Promise<Record<string, number>>
}

/** How long a process that is busy may keep a metrics page waiting. */
const GATHER_MS = 1000
/** How often the leader asks, so that what a process has counted outlives it: at most as much as this is lost. */
const REMEMBER_MS = 1000
/** The pause before a process that died is replaced. */
const RESTART_MS = 1000

export function groupMember(): Member | undefined {
  const { worker } = cluster
  if (!worker) return undefined
  let own: () => Record<string, number> = () => ({})
  let asked = 0
  let all: Record<string, number> | undefined
  const waiting = new Map<number, (counters: Record<string, number>) => void>()
  const tell = (message: Message) => worker.send(message)
  worker.on('message', (message: Message) => {
    if (message.kind === 'gather') tell({ kind: 'counters', id: message.id, counters: own() })
    if (message.kind === 'counters') waiting.get(message.id)?.(message.counters)
  })
  return {
    ready: (port, setupToken) => void tell({ kind: 'ready', port, setupToken }),
    counting(counters) {
      own = counters
    },
    async gathered() {
      const id = asked++
      const answer = new Promise<Record<string, number>>((resolve) => waiting.set(id, resolve))
      tell({ kind: 'gather', id })
      // The leader itself gives up on others before this. Counters never fall: what all had counted is shown again.
      const late = wait(2 * GATHER_MS, undefined, { ref: false })
      all = (await Promise.race([answer, late])) ?? all ?? own()
      waiting.delete(id)
      return all
    },
  }
}

/** Runs the members: starts them, follows up on those that die, passes signals on, adds up what they count. Resolves with
 *  the exit code when all have ended. */
export async function leadGroup(options: {
  readonly count: number
  readonly log: Log
  /** Every member answers. */
  readonly onReady: (port: number, setupToken: string | undefined) => void
}): Promise<number> {
  const { count, log, onReady } = options
  const over = Promise.withResolvers<number>()
  let readyCount = 0
  let setupToken: string | undefined
  let stopping = false
  let exitCode = 0
  const counted = groupCounters()

  // One that has died stays in the list until its channel is closed as well, which may come later.
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
      // The first tries out whether there is anything to be had; then the others need not.
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
    await remember(id, asker.id)
    const counters = counted.sum()
    if (asker.isConnected()) asker.send({ kind: 'counters', id, counters } satisfies Message)
  }

  /** Has every member say what it counts. */
  async function remember(id: number, asker: number): Promise<void> {
    await Promise.all(
      members().map(async (worker) => {
        const counters = await countersOf(worker, id, asker)
        if (counters && !worker.isDead()) counted.reported(worker.id, counters)
      }),
    )
  }

  let looks = 0
  const looking = setInterval(() => void remember(++looks, LEADER), REMEMBER_MS)
  over.promise.then(() => clearInterval(looking))
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

/** Who asks beside the members, whose ids begin with 1. */
const LEADER = 0

/** Several may ask at the same time, each by its own numbers. Undefined where a member does not answer. */
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
