import { elapsedMs } from '../../../lib/clock.ts'
import { expiringMap } from '../in-process/expiring-map.ts'
import type { Admission, Decided, SharedStore } from '../shared-store.ts'

/** How long confirmed versions stay valid while the store is away. */
const UNCONFIRMED_MS = 60_000
/** Locally admitted calls that never settle are dropped after this time. */
const LOCAL_CALL_MS = 3_600_000
const MOST_LOCAL_CALLS = 100_000

/** The calls that this process admits while the shared store is away, in a store of its own for each outage. */
export interface LocalCalls {
  /** The store of this outage. */
  store(): SharedStore
  /** The same, if anything was asked of it. */
  used(): SharedStore | undefined
  /** Admits a call without the shared store. The local store compares no versions, so a caller whose versions were not
   *  confirmed for long is stale. */
  admit(call: Admission): Promise<Decided>
  /** The store that admitted a call, also in an earlier outage. */
  admitterOf(callId: string): SharedStore | undefined
  forget(callId: string): void
  /** The outage is over: returns its store. */
  end(): SharedStore | undefined
}

export function localCalls(newStore: () => SharedStore, now: () => number): LocalCalls {
  const admitters = expiringMap<SharedStore>(now, MOST_LOCAL_CALLS)
  let local: SharedStore | undefined

  function store(): SharedStore {
    local ??= newStore()
    return local
  }

  return {
    store,
    used: () => local,
    async admit(call) {
      const admitter = store()
      const { callId, versions, confirmedAt } = call
      if (versions.length > 0 && confirmedAt !== undefined && elapsedMs(confirmedAt, now()) > UNCONFIRMED_MS) {
        return { kind: 'stale', records: versions.map(({ record }) => record), budgets: [], unconfirmed: true }
      }
      const decision = await admitter.admit(withoutRecency(call))
      if (decision.kind === 'admitted') admitters.set(callId, admitter, now() + LOCAL_CALL_MS)
      return decision.kind === 'stale' ? decision : { ...decision, unconfirmed: true }
    },
    admitterOf: (callId) => admitters.get(callId),
    forget: (callId) => admitters.delete(callId),
    end() {
      const ended = local
      local = undefined
      return ended
    },
  }
}

/** The call with its versions as if just read: the local store knows no versions, and would call all others stale. It
 *  does not look for cached answers: what one process has, nobody could clear. */
function withoutRecency(call: Admission): Admission {
  return { ...call, cache: undefined, versions: call.versions.map(({ record, version }) => ({ record, version })) }
}
