import type { GatewayError } from '../../lib/errors.ts'
import { leftBy, settleWith } from '../cache/keep.ts'
import type { Call } from '../call.ts'
import { keepAnswer } from '../memory/remember.ts'
import type { PipelineServices } from '../services.ts'
import { usedByLast } from './attempt-usage.ts'
import { type Bill, billOf, unbilled } from './bill.ts'
import { callFinished, type End, servedBy } from './call-finished.ts'
import { contentOf } from './content-of.ts'
import { learnUsual } from './learn-usual.ts'
import { settleInOrder } from './settle-in-order.ts'
import { settlementOf } from './settlement-of.ts'
import { logFailed, trying } from './trying.ts'

/** Ends a call: reports it and settles what it held. Resolves when that is settled; undefined if it is at once. Never
 *  rejects. */
export function finish(
  services: PipelineServices,
  call: Call,
  failure: GatewayError | undefined,
): Promise<void> | undefined {
  const now = services.clock.now()
  const endedAt = performance.now()
  const last = call.attempts.at(-1)
  if (last) last.endedAt ??= endedAt
  // A settled attempt has ended well: the call failed after its turn.
  if (last && failure && !last.settled) last.failure ??= failure
  const { batch } = call
  const again = batch !== undefined && failure !== undefined && trying(services, call, () => batch.repeats(failure))
  const bill = billed(services, call, failure, again === true)
  // A try that cost something is final: the item is never paid twice.
  const repeats = again === true && bill.costNano === 0
  report(services, call, failure, bill, { now, endedAt, repeats })
  if (call.cache?.hit) {
    // It holds nothing that had to be released.
    services.flushCounters(call.client)
    return undefined
  }
  const settlement = () => settlementOf(services, call, bill, repeats)
  const left = call.cache && trying(services, call, () => leftBy(services, call, failure, bill.costNano))
  const settle = () => (left ? settleWith(services, call, left, settlement) : settleInOrder(services, call, settlement))
  return call.memory?.answer ? keepAnswer(services, call).then(settle) : settle()
}

const FREE: Bill = { costNano: 0, attemptsNano: [], charges: [], budgets: [] }

/** The bill of a call that has ended, with the usage of its last attempt. `again`: its item will be tried again. */
function billed(services: PipelineServices, call: Call, failure: GatewayError | undefined, again: boolean): Bill {
  if (call.cache?.hit) return FREE
  try {
    const last = call.attempts.at(-1)
    if (last?.asked && !(again && isSilent(call))) last.usage ??= usedByLast(services, call, failure)
    const beganAt = services.storeClock.now() - (performance.now() - call.arrivedAt)
    return billOf(services.registry, call, beganAt)
  } catch (error) {
    logFailed(services, call, error)
    return unbilled(call)
  }
}

/** Tells of the call, and learns from it. */
function report(services: PipelineServices, call: Call, failure: GatewayError | undefined, bill: Bill, end: End): void {
  try {
    const content = call.recording && trying(services, call, () => contentOf(call))
    const event = callFinished(call, failure, bill, end)
    const { batch } = call
    if (batch) trying(services, call, () => batch.finished(event))
    services.telemetry.emit(event, content)
    if (call.spentBefore) services.budgetNotices.passed(call.client, call.spentBefore, bill.budgets)
    reportDropped(services, call)
    learnUsual(services, call)
  } catch (error) {
    logFailed(services, call, error)
  }
}

/** Whether nothing of an answer has arrived. What such a call cost is estimated if it was given up, but not if it is
 *  repeated: as after a crash, only the repetition is paid. */
function isSilent({ usage, outputCharacters }: Call): boolean {
  return usage === undefined && outputCharacters === 0
}

/** Counts the hints that were left out for the provider of the answer. */
function reportDropped({ telemetry }: PipelineServices, call: Call): void {
  const served = servedBy(call)
  if (!served?.dropped) return
  const { kind: provider } = served.deployment.provider
  const { path: endpoint } = call.endpoint
  for (const field of served.dropped) telemetry.emit({ type: 'field.dropped', endpoint, provider, field })
}
