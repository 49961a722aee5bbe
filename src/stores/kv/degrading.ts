import { GatewayError } from '../../lib/errors.ts'
import { type Log, throttled } from '../../lib/log.ts'
import { createChanges } from './changes.ts'
import { strictly, within } from './deadline.ts'
import { DEADLINES, type Deadlines, guarded } from './guarded.ts'
import { expiringMap } from './in-process/expiring-map.ts'
import type { Admission, Admitted, Refused, Settlement, SharedStore, Stale } from './shared-store.ts'
import { createUnsettled } from './unsettled.ts'

export interface DegradingOptions {
  /** Makes the store that stands in; a new one for each time that the shared one is away. */
  readonly local: () => SharedStore
  /** `fail_open`: limits hold within this process while the store is away. `fail_closed`: calls are refused. */
  readonly mode: 'fail_open' | 'fail_closed'
  readonly now: () => number
  readonly log: Log
  /** Keeps the runtime alive for work that no call waits for. */
  readonly defer?: (work: Promise<void>) => void
  /** How long the runtime lets such work run; left out where it ends with the process. */
  readonly deferredMs?: number
  readonly deadlines?: Deadlines
}

export interface DegradingStore extends SharedStore {
  state(): 'primary' | 'degraded'
}

/** How long versions that were confirmed are gone by while the store is away. */
const UNCONFIRMED_MS = 60_000
/** Locally admitted calls that never settle are forgotten after this. */
const REMEMBER_MS = 3_600_000
const MOST_LOCAL_CALLS = 100_000
/** How many untold settlements one settled call brings along. */
const BROUGHT_ALONG = 20

const UNUSED = { result: 'neutral', used: {}, cooldown: { allowedFails: 0, seconds: 0 } } as const

/** A shared store that never hangs a call and never fails one but by `fail_closed`: deadlines, a breaker, and a local store
 *  that stands in. What the shared store missed of money is told to it when it is back, and changes of records until it
 *  knows them; counters and slots of the stand-in are dropped. After a call is admitted, nothing here throws because the
 *  store is away. */
export function degrading(primary: SharedStore, options: DegradingOptions): DegradingStore {
  const { mode, now, log, defer = () => {}, deadlines = DEADLINES } = options
  const guard = guarded(primary, now, deadlines)
  const { breaker } = guard
  const unsettled = createUnsettled()
  const changes = createChanges({
    tell: (change) => guard.tryOut(deadlines.unhurriedMs, (store) => store.publish(change)),
    now,
    log,
    defer,
    ...(options.deferredMs === undefined ? {} : { deferredMs: options.deferredMs }),
  })
  const localCalls = expiringMap<SharedStore>(now, MOST_LOCAL_CALLS)
  let local: SharedStore | undefined

  const complain = throttled(1000, now, (suppressed) => {
    const { trouble } = guard
    const fields = { mode, trouble: trouble.trouble, reason: trouble.message, state: state(), suppressed }
    if (trouble.trouble === 'refused') log.error('store.degraded', fields)
    else log.warn('store.degraded', fields)
  })

  const state = () => (breaker.open ? 'degraded' : 'primary')

  function standIn(): SharedStore {
    local ??= options.local()
    return local
  }

  /** Undefined when the store is away. */
  async function askPrimary<T>(
    waiting: 'client' | 'nobody',
    verb: (store: SharedStore) => Promise<T>,
  ): Promise<[T] | undefined> {
    if (!breaker.open) {
      const answer = await guard.ask(waiting, verb)
      if (answer) return answer
    } else if (breaker.takeProbe()) defer(probe())
    complain()
    return undefined
  }

  async function ask<T>(waiting: 'client' | 'nobody', verb: (store: SharedStore) => Promise<T>): Promise<T> {
    const answer = await askPrimary(waiting, verb)
    if (answer) return answer[0]
    if (mode === 'fail_closed') {
      throw new GatewayError('store_unavailable', 'The shared store is away and the gateway is set to fail closed.', {
        retryAfterSeconds: 1,
      })
    }
    return verb(standIn())
  }

  async function admit(call: Admission): Promise<Admitted | Refused | Stale> {
    changes.resume()
    // Whoever made a change goes by it, whatever the store knows of it.
    const changed = changes.since(call.versions)
    if (changed.length > 0) return { kind: 'stale', records: changed, budgets: [] }
    const { open } = breaker
    try {
      const answer = await ask(
        'client',
        async (store) => [store, store === primary ? await store.admit(call) : await standInFor(store, call)] as const,
      )
      const [admitter, decision] = answer
      if (admitter === primary) return decision
      if (decision.kind === 'admitted') localCalls.set(call.callId, admitter, now() + REMEMBER_MS)
      else if (decision.kind === 'refused' && !open) giveBack(call)
      return decision
    } catch (error) {
      if (!open && error instanceof GatewayError) giveBack(call)
      throw error
    }
  }

  /** Nobody compares versions here, and what nobody has compared for long holds no more. */
  async function standInFor(store: SharedStore, call: Admission): Promise<Admitted | Refused | Stale> {
    const { versions, confirmedAt } = call
    if (versions.length > 0 && confirmedAt !== undefined && now() - confirmedAt > UNCONFIRMED_MS) {
      return { kind: 'stale', records: versions.map(({ record }) => record), budgets: [], unconfirmed: true }
    }
    const decision = await store.admit(trusting(call))
    return decision.kind === 'stale' ? decision : { ...decision, unconfirmed: true }
  }

  /** The shared store may have let in a call whose answer was not heard, and which is refused here: nobody would settle
   *  it. One that asks for no deployment may be a part of a call that goes on, and is settled with it. */
  function giveBack({ callId, attemptId, slots, budgets, candidates }: Admission): void {
    if (slots.length === 0 && candidates.length === 0) return
    const unspent = budgets.map(({ subject, period, holdNano }) => ({ subject, period, holdNano, spentNano: 0 }))
    const subjects = slots.map(({ subject }) => subject)
    // Whichever of them it has reserved.
    const unused = { attemptId, ...UNUSED, unusedSince: now() }
    const outcomes = candidates.map(({ deployment }) => ({ deployment, ...unused }))
    defer(settle({ callId, slots: subjects, budgets: unspent, outcomes, counters: {}, entries: [] }))
  }

  async function settle(outcome: Settlement): Promise<void> {
    const admittedHere = localCalls.get(outcome.callId) === local && local !== undefined
    localCalls.delete(outcome.callId)
    const told = await askPrimary('nobody', (store) => store.settle(outcome))
    if (!told) unsettled.add(outcome)
    if (admittedHere || !told) await local?.settle(outcome)
    if (told) await tellUnsettled()
  }

  async function tellUnsettled(): Promise<void> {
    for (let count = 0; count < BROUGHT_ALONG; count++) {
      const outcome = unsettled.take()
      if (!outcome) return
      if (await askPrimary('nobody', (store) => store.settle(outcome))) continue
      unsettled.add(outcome)
      return
    }
  }

  /** Looks whether the store is back, beside a call that does not wait for it. An empty admission that writes one record:
   *  a store that answers pings but refuses the script, or writes, is not back. */
  async function probe(): Promise<void> {
    try {
      const versions = [{ record: 'probe', version: Math.floor(now() / 1000) }]
      const nothing = { quotas: [], tokens: 0, slots: [], budgets: [], candidates: [], leaseSeconds: 1 }
      const empty = { callId: 'probe', attemptId: 'probe', versions, ...nothing }
      await guard.tryOut(deadlines.patienceMs, (store) => store.admit(empty))
      if (!(await changes.tellAll())) return
    } catch {
      return
    }
    if (!breaker.open) return
    breaker.close()
    log.info('store.recovered', { mode, degradedMs: now() - breaker.openedAt })
    const dropped = local
    local = undefined
    await dropped?.close()
    await tellUnsettled()
  }

  /** A store that is too slow for calls is away. Whoever asks helps to find out that it is back: nobody else may, when
   *  a process that is not ready gets no calls. */
  async function ping(timeoutMs: number): Promise<void> {
    if (!breaker.open) return primary.ping(Math.min(timeoutMs, deadlines.patienceMs))
    if (breaker.takeProbe()) await within(strictly(timeoutMs), probe())
    if (breaker.open) throw guard.trouble
  }

  const waitedFor = <T>(verb: (store: SharedStore) => Promise<T>) => ask('client', verb)
  const unhurried = <T>(verb: (store: SharedStore) => Promise<T>) => ask('nobody', verb)

  return {
    state,
    admit,
    settle,
    async startAttempt(start) {
      const answer = await askPrimary('client', (store) => store.startAttempt(start))
      return answer ? answer[0] : standIn().startAttempt(start)
    },
    async renew(lease) {
      await askPrimary('nobody', (store) => store.renew(lease))
      await localCalls.get(lease.callId)?.renew(lease)
    },
    async publish(change) {
      await local?.publish(change)
      return changes.publish(change)
    },
    signals: (deployments) => unhurried((store) => store.signals(deployments)),
    counters: () => unhurried((store) => store.counters()),
    entries: (name, limit) => unhurried((store) => store.entries(name, limit)),
    get: (key) => waitedFor((store) => store.get(key)),
    getAll: (keys) =>
      waitedFor(async (store) => {
        const values = await store.getAll(keys)
        return store === primary ? values : values.map((value) => value ?? null)
      }),
    put: (key, value, ttlSeconds) => waitedFor((store) => store.put(key, value, ttlSeconds)),
    putNew: (key, value, ttlSeconds) => waitedFor((store) => store.putNew(key, value, ttlSeconds)),
    take: (key) => waitedFor((store) => store.take(key)),
    remove: (...keys) => waitedFor((store) => store.remove(...keys)),
    mode: () => (breaker.open ? 'degraded' : primary.mode()),
    ping,
    async close() {
      await changes.close()
      await primary.close()
      await local?.close()
    },
  }
}

/** The stand-in knows no version of anything, and nobody can read everything again while it stands in. */
function trusting(call: Admission): Admission {
  return { ...call, versions: call.versions.map(({ record, version }) => ({ record, version })) }
}
