import { describeError, type Log } from '../../lib/log.ts'
import type { Foreground } from '../../pipeline/foreground.ts'
import { wake } from '../../stores/queue/wake.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import type { BatchStage } from '../batch-stage.ts'
import type { ItemExecutor, Outcome } from './executor.ts'
import { givingWay } from './giving-way.ts'
import { type HeldItem, heldItems } from './held-items.ts'

const RENEW_EVERY_MS = 10_000
const RENEW_AGAIN_MS = 1000
/** How often due items are looked for while others run. */
const LOOK_EVERY_MS = 1000
/** Fewer items than `FEW` are claimed once in `FEW_EVERY_MS` at most. */
const FEW = 16
const FEW_EVERY_MS = 250
const LONGEST_SLEEP_MS = 1000

export interface RunningStage extends BatchStage {
  /** Runs at most so many items, else all that are due until nothing is, with as many at once as allowed. */
  step(signal: AbortSignal, most?: number): Promise<boolean>
  /** Something may be due. */
  wake(): void
  /** Stops, and gives back the items that run. */
  abandon(): Promise<void>
}

/** Runs what is due, many items side by side. */
export function runStage(options: {
  readonly executor: ItemExecutor
  readonly concurrency: number
  readonly foreground: Foreground
  readonly telemetry: Telemetry
  readonly log: Log
}): RunningStage {
  const { executor, concurrency, foreground, telemetry, log } = options
  const held = heldItems(concurrency)
  const events = wake()
  const way = givingWay(foreground)
  const few = Math.min(FEW, concurrency)
  let renewedAt = 0
  let lookAt = 0

  async function end(one: HeldItem, outcome: Outcome): Promise<void> {
    if (outcome.kind === 'postponed' && outcome.isHeldBack && held.heldBack(one)) return events.signal()
    const { item } = one
    const startedAt = one.startedAt ?? performance.now()
    const seconds = (performance.now() - startedAt) / 1000
    held.ended(one, outcome.kind)
    if (outcome.kind === 'postponed' || outcome.kind === 'throttled') putBack(held.waitingOf(item.batchId), outcome)
    events.signal()
    const completing = executor.complete(item, outcome)
    if (held.running === 0) executor.completeNow()
    const written = await completing
    held.remove(one)
    events.signal()
    if (!written || one.startedAt === undefined) return
    const status = outcome.kind === 'ended' ? (outcome.ended.failed ? 'failed' : 'completed') : 'waiting'
    telemetry.emit({ type: 'batch.item_ended', status, seconds })
  }

  function start(one: HeldItem): void {
    way.started(performance.now())
    held.started(one)
    void executor.run(one.item).then((outcome) => end(one, outcome))
  }

  /** Gives back items that have not begun. */
  function putBack(
    items: readonly HeldItem[],
    { delayMs, error }: { readonly delayMs: number; readonly error: string },
  ): void {
    for (const one of items) {
      held.ended(one, 'postponed')
      void executor.complete(one.item, { kind: 'postponed', delayMs, error }).then(() => {
        held.remove(one)
        events.signal()
      })
    }
  }

  /** Starts what may start; resolves with the time until more may, unless something ends before. */
  async function startSome(): Promise<number> {
    for (const one of held.startable()) {
      if (held.isFull()) break
      const waitMs = way.waitMs(held.running, performance.now())
      if (waitMs !== 0) return waitMs ?? LONGEST_SLEEP_MS / 10
      const room = await executor.room(one.item, held.runningOfKey(one.item.keyId))
      if (!held.isWaiting(one)) continue
      if (room === 'now') start(one)
      else if (room === 'later') held.block(one.item.batchId)
      else putBack(held.waitingOf(one.item.batchId), { delayMs: room, error: 'The limits of the key are nearly used.' })
    }
    return LONGEST_SLEEP_MS
  }

  /** Claims what can start soon; resolves with how many items that were, and undefined if nothing is due. */
  async function claimSome(most: number): Promise<number | undefined> {
    try {
      const items = await executor.claim(most, held.blocked())
      for (const item of items ?? []) held.add(item)
      return items?.length
    } catch (error) {
      log.warn('batch.claim_failed', { error: describeError(error) })
      return undefined
    }
  }

  async function renew(): Promise<void> {
    try {
      const items = held.all()
      renewedAt = performance.now()
      await executor.renew(items)
    } catch (error) {
      renewedAt = performance.now() - RENEW_EVERY_MS + RENEW_AGAIN_MS
      log.warn('batch.not_renewed', { error: describeError(error) })
    }
  }

  return {
    wake() {
      lookAt = 0
      events.signal()
    },
    async abandon() {
      await executor.abandon(held.all())
    },
    async step(signal, most = Number.POSITIVE_INFINITY) {
      const stop = () => events.signal()
      signal.addEventListener('abort', stop)
      // Renewed concurrently: the loop may wait for a claim longer than leases last.
      const renewing = setInterval(() => {
        if (held.size > 0 && performance.now() - renewedAt >= RENEW_EVERY_MS) void renew()
      }, RENEW_AGAIN_MS)
      let claimed = 0
      let claimedAt = 0
      renewedAt = performance.now()
      try {
        for (;;) {
          const signals = events.count()
          if (signal.aborted) {
            putBack(held.waiting(), { delayMs: 0, error: '' })
            if (held.size === 0) return claimed > 0
            await events.wait(signals, LONGEST_SLEEP_MS)
            continue
          }
          let sleepMs = await startSome()
          const now = performance.now()
          const wanted = Math.min(held.wanted(), most - claimed)
          const soonest = Math.max(lookAt, wanted < few ? claimedAt + FEW_EVERY_MS : 0)
          if (wanted > 0 && now >= soonest) {
            const count = await claimSome(wanted)
            claimedAt = performance.now()
            claimed += count ?? 0
            if (count !== undefined) continue
            lookAt = claimedAt + LOOK_EVERY_MS
            if (held.size === 0) return claimed > 0
          } else if (wanted > 0) sleepMs = Math.min(sleepMs, soonest - now)
          if (held.size === 0 && (wanted <= 0 || lookAt > now)) return claimed > 0
          await events.wait(signals, Math.max(1, sleepMs))
        }
      } finally {
        clearInterval(renewing)
        signal.removeEventListener('abort', stop)
      }
    },
  }
}
