import { type Aborter, newAbort } from '../../lib/abort.ts'
import { GatewayError } from '../../lib/errors.ts'
import { describeError } from '../../lib/log.ts'
import { estimatedUsage } from '../../modes/usage.ts'
import type { Hedge } from '../../routing/group-settings.ts'
import { learnWait, p95Wait } from '../../routing/recent-waits.ts'
import type { Attempt, Call } from '../call.ts'
import { requestBytes } from '../call-input.ts'
import type { Plan } from '../plan/plan.ts'
import type { PipelineServices } from '../services.ts'
import { abandon, attempt, type Committed } from './attempt.ts'
import { settleEnded } from './settle-ended.ts'
import { giveUp } from './start-attempt.ts'

/** Starts an attempt at another deployment; undefined if none is available or `wanted` turned false meanwhile. */
export type StartHedge = (wanted: () => boolean) => Promise<Attempt | undefined>

/** Asks one deployment and, if its group hedges and the answer is late, a second one. The first to commit wins; the
 *  other is aborted, and its outcome does not count. Throws when both failed, or when the failure is the request's own.
 *  The deciding attempt becomes the call's last. */
export function hedgedAttempt(
  services: PipelineServices,
  call: Call,
  plan: Plan,
  first: Attempt,
  startHedge: StartHedge,
): Promise<Committed> {
  const { hedge } = plan.settings
  if (!hedge) return attempt(services, call, first)
  const waitMs = waitOf(hedge, call, plan)
  if (waitMs === undefined) return alone(services, call, plan, first)
  return raced(race(services, call, first), startHedge, waitMs, call, plan)
}

/** How long the first attempt runs alone; undefined: to its end. */
function waitOf({ p95, afterMs }: Hedge, call: Call, { group }: Plan): number | undefined {
  // An upload can be read only once. Nobody waits for an item of a batch, and on Workers a second call of each would
  // leave no connection of an event to the stores.
  if (call.hedged || call.form || call.batch) return undefined
  return (p95 ? p95Wait(group, kindOf(call)) : undefined) ?? afterMs
}

async function alone(services: PipelineServices, call: Call, plan: Plan, only: Attempt): Promise<Committed> {
  try {
    return await attempt(services, call, only)
  } finally {
    learn([only], call, plan)
  }
}

/** The second attempt joins the race after `waitMs`. */
async function raced(
  { decided, join, attempts }: ReturnType<typeof race>,
  startHedge: StartHedge,
  waitMs: number,
  call: Call,
  plan: Plan,
): Promise<Committed> {
  // Deferred: the place that it reserves is given back even if the call has been answered meanwhile.
  const timer = setTimeout(() => call.client.defer(join(startHedge)), waitMs)
  try {
    return await decided
  } finally {
    clearTimeout(timer)
    learn(attempts, call, plan)
  }
}

function race(services: PipelineServices, call: Call, first: Attempt) {
  const { promise: decided, resolve, reject } = Promise.withResolvers<Committed>()
  const running = new Map<Attempt, Aborter<GatewayError>>()
  const attempts: Attempt[] = []
  let joining = false
  let over = false

  function run(one: Attempt): void {
    const aborter = newAbort<GatewayError>()
    attempts.push(one)
    running.set(one, aborter)
    attempt(services, call, one, undefined, aborter).then(
      (committed) => {
        if (over) return cancelStream(committed)
        decide(one)
        resolve(committed)
      },
      (error) => {
        running.delete(one)
        if (over) return
        const hopeless = !(error instanceof GatewayError) || error.isFinal
        if (!hopeless && (joining || running.size > 0)) return settleEnded(services, call)
        decide(one)
        reject(error)
      },
    )
  }

  function decide(last: Attempt): void {
    over = true
    running.delete(last)
    for (const [other, aborter] of running) {
      other.lostHedge = true
      other.endedAt = performance.now()
      other.firstTokenAt = undefined
      if (other.asked && call.endpoint.mode.unit === 'tokens') other.usage = estimatedUsage(requestBytes(call), 0)
      aborter.abort()
    }
    if (call.attempts.at(-1) !== last) {
      call.attempts.splice(call.attempts.indexOf(last), 1)
      call.attempts.push(last)
    }
    if (running.size > 0) settleEnded(services, call)
  }

  async function join(startHedge: StartHedge): Promise<void> {
    joining = true
    try {
      const wanted = () => !over && !call.client.signal.aborted
      const second = await startHedge(wanted)
      if (second && !wanted()) giveUp(services, call, second)
      else if (second) {
        call.hedged = true
        run(second)
      }
    } catch (error) {
      // For instance the store failed. The first attempt may still answer.
      services.log.warn('hedge.failed', { callId: call.id, error: describeError(error) })
    }
    joining = false
    const last = attempts.at(-1)
    if (over || running.size > 0 || !last) return
    decide(last)
    reject(last.failure)
  }

  run(first)
  return { decided, join, attempts }
}

/** Cancels a stream that committed after the hedge was decided. */
function cancelStream(committed: Committed): void {
  if (committed.kind === 'whole') return
  abandon(committed.stream)
}

/** Remembers how long attempts took until their answer began, if the group's hedges depend on that. */
function learn(attempts: readonly Attempt[], call: Call, { group, settings }: Plan): void {
  if (!settings.hedge?.p95) return
  for (const { startedAt, firstTokenAt, endedAt, lostHedge } of attempts) {
    const until = firstTokenAt ?? (lostHedge ? endedAt : undefined)
    if (until !== undefined) learnWait(group, kindOf(call), until - startedAt)
  }
}

/** What separates calls of different duration. */
const kindOf = ({ endpoint, streamed }: Call) => `${endpoint.mode.name} ${streamed ? 'streamed' : 'whole'}`
