import { asGatewayError } from '../../lib/errors.ts'
import { newId, newTimedId } from '../../lib/ids.ts'
import { describeError } from '../../lib/log.ts'
import { expiringMap } from '../../stores/kv/in-process/expiring-map.ts'
import type { BatchPlan, Claim, ItemClaim } from '../../stores/sql/batches/claimed-items.ts'
import type { Line } from '../lines.ts'
import type { ItemExecutor, Outcome, ReadyItem } from './executor.ts'
import { headroom } from './headroom.ts'
import { itemRecording } from './item-recording.ts'
import { itemReader } from './read-items.ts'
import { readRequestLine } from './request-line.ts'
import { failed, runItem } from './run-item.ts'
import type { RunServices } from './run-services.ts'

/** A claim that is not renewed for so long is given to others. */
const LEASE_SECONDS = 30
/** The most items that are taken of one batch before another owner's turn. */
const STRETCH = 32
const PLANS_KEPT = 200
const PLAN_MS = 600_000
/** The wait of a batch whose input file cannot be read for now. */
const UNREADABLE_MS = 5000

/** Runs items through the gateway's own pipeline, as calls of the keys that made their batches. */
export function pipelineExecutor(services: RunServices): ItemExecutor {
  const { batchEndpoints, blobs, keyCallers, clock, log, telemetry } = services
  const { batchItems } = services.records
  const plans = expiringMap<BatchPlan>(clock.now, PLANS_KEPT)
  const reader = itemReader(blobs)
  const limits = headroom(clock.now)
  const records = itemRecording(services)

  async function planOf(batchId: string): Promise<BatchPlan | undefined> {
    const plan = plans.get(batchId) ?? (await batchItems.plan(batchId))
    if (plan) plans.set(batchId, plan, clock.now() + PLAN_MS)
    return plan
  }

  async function ready({ batchId, items }: Claim): Promise<ReadyItem[]> {
    const looking = services.live.attend(() => {})
    if (looking) await looking
    const plan = await planOf(batchId)
    if (!plan) return []
    const lines = await reader.read(plan, items)
    return items.map((claim) => readyItem(claim, plan, lines.get(claim.item)))
  }

  function readyItem(claim: ItemClaim, { keyId, endpoint }: BatchPlan, line: Line | undefined): ReadyItem {
    const request = line?.bytes && readRequestLine(line.bytes)
    return {
      ...claim,
      line: line?.line ?? claim.line,
      startsAt: line?.offset ?? claim.startsAt,
      length: line?.length ?? claim.length,
      keyId,
      endpoint: batchEndpoints.get(endpoint),
      customId: request?.customId ?? null,
      body: request?.body,
    }
  }

  return {
    async claim(most, except) {
      const claim = await batchItems.claim(newId('claim'), {
        most: Math.min(STRETCH, most),
        except,
        leaseSeconds: LEASE_SECONDS,
      })
      if (!claim) return undefined
      const { batchId, items, waitedMs } = claim
      if (items.length === 0) return []
      telemetry.emit({ type: 'batch.claimed', waitedMs })
      try {
        return await ready(claim)
      } catch (error) {
        log.warn('batch.input_not_read', { batchId, error: describeError(error) })
        await batchItems.postpone(batchId, UNREADABLE_MS)
        await batchItems.release(items.map((item) => ({ ...item, delayMs: 0, lastError: null })))
        return []
      }
    },
    async room({ keyId, body }, running) {
      const caller = await keyCallers.orderer(keyId).catch(() => undefined)
      return caller ? limits.room(caller, body?.byteLength ?? 0, running) : 'now'
    },
    async run(item): Promise<Outcome> {
      try {
        const caller = await keyCallers.orderer(item.keyId)
        limits.started(caller, item.body?.byteLength ?? 0)
        return await runItem(services, item, caller, (headers) => limits.learn(caller, headers))
      } catch (error) {
        // Its key is no longer valid, or cannot be read for now.
        return failed(services, item, asGatewayError(error), { requestId: newTimedId('req'), event: undefined })
      }
    },
    complete: records.add,
    completeNow: records.writeNow,
    renew: (items) => batchItems.renew(items, LEASE_SECONDS),
    async abandon(items) {
      records.close()
      await batchItems.release(items.map((item) => ({ ...item, delayMs: 0, lastError: null })))
    },
  }
}
