import { GatewayError } from '../../lib/errors.ts'
import { type Log, throttled } from '../../lib/log.ts'
import { separateTimers, type Timers } from '../../lib/timers/timers.ts'
import { strictly, within } from './deadline.ts'
import { createChanges } from './degrading/changes.ts'
import { type Course, DEADLINES, type Deadlines, guarded } from './degrading/guarded.ts'
import { localCalls } from './degrading/local-calls.ts'
import { createUnsettled } from './degrading/unsettled.ts'
import { givingBack, releasing } from './degrading/unused-places.ts'
import { ASKS_NOTHING } from './nothing.ts'
import type { Admission, Cooled, Decided, Settlement, SharedStore } from './shared-store.ts'

export interface DegradingOptions {
  /** Creates the local store for one outage of the shared one. */
  readonly local: () => SharedStore
  /** `fail_open`: limits hold within this process while the store is away. `fail_closed`: calls are refused. */
  readonly mode: 'fail_open' | 'fail_closed'
  readonly now: () => number
  readonly log: Log
  /** What an operator does about a failure that has this word. */
  readonly advice?: (word: string) => string
  /** Keeps the runtime alive for background work. */
  readonly defer?: (work: Promise<void>) => void
  /** How long the runtime lets such work run; unlimited if absent. */
  readonly deferredMs?: number
  readonly deadlines?: Deadlines
  /** Where requests do not own their timers, and may share them. */
  readonly timers?: Timers
}

export interface DegradingStore extends SharedStore {
  admit(call: Admission): Promise<Decided>
  settle(outcome: Settlement): Promise<readonly Cooled[] | undefined>
  state(): 'primary' | 'degraded'
  /** Looks whether a store that is away is back, and sends it what it missed. Calls do both beside their own work; this is
   *  for a process that has none. Rejects only if a settlement is at fault. */
  tend(): Promise<void>
}

/** How many missed settlements are sent after one that succeeded. */
const RESENT_AT_ONCE = 20

/** A shared store that never hangs a call, and fails one only under `fail_closed`: it has deadlines, a breaker, and a local
 *  store for outages. Settlements and changes that the shared store missed are sent when it is back; counters and slots of
 *  the local store are dropped. Once a call is admitted, no method throws because the store is away. */
export function degrading(primary: SharedStore, options: DegradingOptions): DegradingStore {
  const { mode, now, log, defer = () => {}, deadlines = DEADLINES, timers = separateTimers } = options
  const guard = guarded(primary, { now, deadlines, timers, failed: () => logDegraded() })
  const { breaker } = guard
  const unsettled = createUnsettled()
  const changes = createChanges({
    send: (change) => guard.tryOut(deadlines.unhurriedMs, (store) => store.publish(change)),
    now,
    log,
    defer,
    ...(options.deferredMs === undefined ? {} : { deferredMs: options.deferredMs }),
  })
  const here = localCalls(options.local, now)

  const logDegraded = throttled(1000, now, (suppressed) => {
    const { trouble, message, word } = guard.lastFailure
    const fields = {
      mode,
      trouble,
      reason: message,
      advice: word && options.advice?.(word),
      state: state(),
      suppressed,
    }
    if (trouble === 'refused') log.error('store.degraded', fields)
    else log.warn('store.degraded', fields)
  })

  const state = () => (breaker.open ? 'degraded' : 'primary')

  type Verb<T> = (store: SharedStore) => T | Promise<T>

  function askPrimary<T>(waiting: 'client' | 'background', verb: Verb<T>, course: Course<T>): Promise<T> {
    if (!breaker.open) return guard.ask(waiting, verb, course)
    if (breaker.takeProbe()) defer(probe())
    logDegraded()
    return Promise.resolve(course.away())
  }

  /** Resolves with undefined if the store is away. */
  const tryPrimary = <T>(waiting: 'client' | 'background', verb: Verb<T>): Promise<[T] | undefined> =>
    askPrimary<[T] | undefined>(waiting, async (store) => [await verb(store)], { away: () => undefined })

  /** Limits hold within this process, or calls are refused. */
  function mustBeOpen(): void {
    if (mode === 'fail_open') return
    const message = 'The shared store is down, and the gateway is set to fail closed.'
    throw new GatewayError('store_unavailable', message, { retryAfterSeconds: 1 })
  }

  async function askHere<T>(verb: Verb<T>): Promise<T> {
    mustBeOpen()
    return verb(here.store())
  }

  const ask = <T>(waiting: 'client' | 'background', verb: Verb<T>): Promise<T> =>
    askPrimary(waiting, verb, { away: () => askHere(verb) })

  function admit(call: Admission): Promise<Decided> {
    changes.resume()
    // A change of this process applies here even before the store has it.
    const changed = changes.since(call.versions)
    if (changed.length > 0) return Promise.resolve({ kind: 'stale', records: changed, budgets: [] })
    const { open } = breaker
    return askPrimary('client', (store) => store.admit(call), { away: () => admitHere(call, open) })
  }

  /** `knownAway`: the shared store was not even asked. */
  async function admitHere(call: Admission, knownAway: boolean): Promise<Decided> {
    try {
      mustBeOpen()
      const decision = await here.admit(call)
      if (decision.kind === 'admitted' && !knownAway) {
        // With the next settlements.
        const unused = givingBack(call, decision.reserved, now())
        if (unused) unsettled.add(unused)
      }
      if (decision.kind === 'refused' && !knownAway) release(call)
      return decision
    } catch (error) {
      if (!knownAway && error instanceof GatewayError) release(call)
      throw error
    }
  }

  function release(call: Admission): void {
    const unused = releasing(call, now())
    if (unused) defer(settle(unused).then(() => {}))
  }

  function settle(outcome: Settlement): Promise<readonly Cooled[] | undefined> {
    const local = here.used()
    const admittedHere = local !== undefined && here.admitterOf(outcome.callId) === local
    here.forget(outcome.callId)
    const sentAt = performance.now()
    return askPrimary('background', (store) => store.settle(outcome), {
      answered: (cooled) => (admittedHere || unsettled.size > 0 ? caughtUp(outcome, admittedHere, cooled) : cooled),
      async away() {
        unsettled.add(outcome, sentAt)
        return here.used()?.settle(outcome)
      },
    })
  }

  /** What follows a settlement that the shared store has. */
  async function caughtUp(outcome: Settlement, admittedHere: boolean, cooled: readonly Cooled[] | undefined) {
    if (admittedHere) await here.used()?.settle(outcome)
    await resendSettlements()
    return cooled
  }

  async function resendSettlements(): Promise<void> {
    for (let count = 0; count < RESENT_AT_ONCE; count++) {
      const sentAt = performance.now()
      const outcome = unsettled.take()
      if (!outcome) return
      if (await tryPrimary('background', (store) => store.settle(outcome))) continue
      unsettled.add(outcome, sentAt)
      return
    }
  }

  /** Probes the store beside a call that does not wait for it. The probe is an empty admission that writes one record: a
   *  store that answers pings but refuses scripts or writes is not back. */
  async function probe(): Promise<void> {
    try {
      const versions = [{ record: 'probe', version: Math.floor(now() / 1000) }]
      const empty = { ...ASKS_NOTHING, callId: 'probe', attemptId: 'probe', versions, leaseSeconds: 1 }
      await guard.tryOut(deadlines.patienceMs, async (store) => store.admit(empty))
      if (!(await changes.flush())) return
    } catch {
      return
    }
    if (!breaker.open) return
    breaker.close()
    log.info('store.recovered', { mode, degradedMs: now() - breaker.openedAt })
    await here.end()?.close()
    await resendSettlements()
  }

  /** Rejects while the breaker is open. A ping also probes, because a process that is not ready gets no calls that would. */
  async function ping(timeoutMs: number): Promise<void> {
    if (!breaker.open) return primary.ping(Math.min(timeoutMs, deadlines.patienceMs))
    if (breaker.takeProbe()) await within(strictly(timeoutMs), probe())
    if (breaker.open) throw guard.lastFailure
  }

  const forClient = <T>(verb: Verb<T>) => ask('client', verb)
  const inBackground = <T>(verb: Verb<T>) => ask('background', verb)

  return {
    state,
    tend: async () => (breaker.open ? (breaker.takeProbe() ? probe() : undefined) : resendSettlements()),
    admit,
    settle,
    startAttempt(start) {
      return askPrimary('client', (store) => store.startAttempt(start), {
        away: () => here.store().startAttempt(start),
      })
    },
    async renew(lease) {
      await tryPrimary('background', (store) => store.renew(lease))
      await here.admitterOf(lease.callId)?.renew(lease)
    },
    async raise(spent) {
      const asked = await tryPrimary('background', (store) => store.raise(spent))
      const short = await here.used()?.raise(spent)
      return asked?.[0] ?? short ?? []
    },
    async publish(change) {
      await here.used()?.publish(change)
      return changes.publish(change)
    },
    async stamp(key, ttlSeconds) {
      const stamped = await tryPrimary('client', (store) => store.stamp(key, ttlSeconds))
      if (!stamped) throw new GatewayError('store_unavailable', 'The shared store is down.', { retryAfterSeconds: 1 })
    },
    signals: (deployments) => inBackground((store) => store.signals(deployments)),
    standing: (limits) => inBackground((store) => store.standing(limits)),
    counters: async () => (await tryPrimary('background', (store) => store.counters()))?.[0],
    entries: (name, limit) => inBackground((store) => store.entries(name, limit)),
    get: (key) => forClient((store) => store.get(key)),
    getAll: (keys) =>
      forClient(async (store) => {
        const values = await store.getAll(keys)
        return store === primary ? values : values.map((value) => value ?? null)
      }),
    put: (key, value, ttlSeconds) => forClient((store) => store.put(key, value, ttlSeconds)),
    putNew: (key, value, ttlSeconds) => forClient((store) => store.putNew(key, value, ttlSeconds)),
    take: (key) => forClient((store) => store.take(key)),
    remove: (...keys) => forClient((store) => store.remove(...keys)),
    mode: () => (breaker.open ? 'degraded' : primary.mode()),
    ping,
    async close() {
      await changes.close()
      await primary.close()
      await here.used()?.close()
    },
  }
}
