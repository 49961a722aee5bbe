import { elapsedMs } from '../lib/clock.ts'
import { describeError, type Log } from '../lib/log.ts'
import { atMost } from '../lib/timers/at-most.ts'
import type { Blobs } from '../stores/blobs/blobs.ts'
import { batchWakeKey } from '../stores/kv/keys.ts'
import type { SharedStore } from '../stores/kv/shared-store.ts'
import type { Queue } from '../stores/queue/queue.ts'
import { wake } from '../stores/queue/wake.ts'
import type { ItemRecords } from '../stores/sql/batches/item-records.ts'
import type { BatchStage } from './batch-stage.ts'
import type { RunningStage } from './run/run-stage.ts'
import { BATCH_TOPIC } from './wake-up.ts'

const POLL_ACTIVE_MS = 2000
const POLL_IDLE_MS = 5000

/** The longest turn of a runtime that works by turns, and its most items. */
const TURN_MS = 600_000
const TURN_ITEMS = 200
/** A turn that is older was ended by the runtime. */
const TURN_OVER_MS = TURN_MS + 120_000
/** A wake-up that was sent arrives within this time, or never. */
const ARRIVES_SECONDS = 90
const LONGEST_DELAY_SECONDS = 3600
/** What is left when a turn has to end. */
const TURN_END_MS = 20_000

/** Works on batches in the background: in a process that lasts, from `start` to `stop`; elsewhere by turns. */
export interface BatchWorker {
  start(): void
  /** Something may be due. */
  wake(): void
  /** Begins nothing more, and ends what runs. What has not ended in time is given back. */
  stop(limitMs: number): Promise<void>
  /** Does a part of what is due, and has the next turn woken if something is left. */
  turn(): Promise<void>
}

export function batchWorker(options: {
  readonly enabled: boolean
  /** Nothing is begun while they may not be used. */
  readonly blobs: Pick<Blobs, 'isUsable'>
  readonly items: ItemRecords
  /** A stage of its own for each turn: turns of other requests cannot be waited for. */
  readonly running: () => RunningStage
  readonly others: readonly BatchStage[]
  readonly queue: Queue
  readonly store: SharedStore
  readonly log: Log
  readonly now: () => number
}): BatchWorker {
  const { enabled, blobs, items, others, queue, store, log, now } = options
  const stopping = new AbortController()
  const events = wake()
  let running: RunningStage | undefined
  let loops: Promise<unknown> = Promise.resolve()
  let pollMs = POLL_ACTIVE_MS
  let turnSince = Number.NEGATIVE_INFINITY

  const wakeAll = () => {
    running?.wake()
    events.signal()
  }

  /** Ends what is over, and looks whether anything is to be done. */
  const housekeeping: BatchStage = {
    async step() {
      await items.advance()
      const { active } = await items.outlook()
      pollMs = active > 0 ? POLL_ACTIVE_MS : POLL_IDLE_MS
      return false
    },
  }

  async function tried(stage: BatchStage, signal: AbortSignal): Promise<boolean> {
    if (blobs.isUsable?.() === false) return false
    try {
      return await stage.step(signal)
    } catch (error) {
      log.warn('batch.stage_failed', { error: describeError(error) })
      return false
    }
  }

  async function loop(stage: BatchStage): Promise<void> {
    while (!stopping.signal.aborted) {
      const signals = events.count()
      if (await tried(stage, stopping.signal)) wakeAll()
      else await events.wait(signals, pollMs)
    }
  }

  async function doOthers(signal: AbortSignal): Promise<void> {
    for (let did = true; did && !signal.aborted; ) {
      did = false
      for (const stage of others) if (await tried(stage, signal)) did = true
    }
  }

  async function sendNext(): Promise<void> {
    const { active, nextMs = 0 } = await items.outlook()
    if (active === 0) return
    const delaySeconds = Math.min(LONGEST_DELAY_SECONDS, Math.max(0, Math.ceil(nextMs / 1000)))
    // One wake-up is enough, however many turns end.
    if (!(await store.putNew(batchWakeKey(), '1', delaySeconds + ARRIVES_SECONDS))) return
    await queue.send([{ topic: BATCH_TOPIC, body: {} }], { delaySeconds })
  }

  return {
    start() {
      if (!enabled) return
      running = options.running()
      loops = Promise.all([housekeeping, running, ...others].map(loop))
    },
    wake: wakeAll,
    async stop(limitMs) {
      if (!running) return
      stopping.abort()
      wakeAll()
      if (await atMost(limitMs, loops)) return
      await running.abandon().catch((error) => log.warn('batch.not_released', { error: describeError(error) }))
    },
    async turn() {
      if (!enabled || elapsedMs(turnSince, now()) < TURN_OVER_MS) return
      turnSince = now()
      const signal = AbortSignal.timeout(TURN_MS)
      const stage = options.running()
      try {
        await store.remove(batchWakeKey()).catch(() => {})
        await items.advance()
        await doOthers(signal)
        const stepped = stage.step(signal, TURN_ITEMS)
        if (!(await atMost(TURN_MS + TURN_END_MS, stepped))) await stage.abandon()
        await doOthers(signal)
      } catch (error) {
        log.warn('batch.turn_failed', { error: describeError(error) })
      } finally {
        turnSince = Number.NEGATIVE_INFINITY
      }
      await sendNext().catch((error) => log.warn('batch.not_woken', { error: describeError(error) }))
    },
  }
}
