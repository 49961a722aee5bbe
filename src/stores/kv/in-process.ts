import { isCounter } from './counted-series.ts'
import { admit } from './in-process/admit.ts'
import { signalsOf, unknownDeployment } from './in-process/deployment-state.ts'
import { publish } from './in-process/publish.ts'
import { raise } from './in-process/raise.ts'
import { renew } from './in-process/renew.ts'
import { settle } from './in-process/settle.ts'
import { standing } from './in-process/standing.ts'
import { startAttempt } from './in-process/start-attempt.ts'
import { createState, type State } from './in-process/state.ts'
import { removeKeys, valuesOf } from './in-process/values.ts'
import type { SharedStore } from './shared-store.ts'
import { milliseconds } from './windows.ts'

export interface InProcessOptions {
  readonly now: () => number
  /** Creates the state, which uses the given clock. Default: in memory alone. */
  readonly state?: (now: () => number) => State
}

/** A store for a single process: the embedded default, the fallback while the shared store is away, and the reference
 *  for the other adapters. Each method runs without interruption. */
export function inProcessStore({ now, state: stateOf = createState }: InProcessOptions): SharedStore {
  // The clock is read once for each method.
  let at = now()
  const state = stateOf(() => at)

  const put = (key: string, value: string, ttlSeconds: number) =>
    valuesOf(state, key).set(key, value, at + milliseconds(ttlSeconds))

  /** A method that runs at one time, without interruption. */
  const verb =
    <Input extends unknown[], Output>(run: (...input: Input) => Output) =>
    async (...input: Input): Promise<Output> => {
      at = now()
      return run(...input)
    }

  return {
    admit(call) {
      at = now()
      return admit(state, call, at)
    },
    settle(outcome) {
      at = now()
      return settle(state, outcome, at)
    },
    startAttempt: verb((start) => startAttempt(state, start, at)),
    renew: verb((lease) => renew(state, lease, at)),
    raise: verb((spent) => raise(state, spent, at)),
    publish: verb((change) => publish(state, change, at)),
    stamp: verb((key, ttlSeconds) => put(key, String(at), ttlSeconds)),
    signals: verb((deployments) =>
      deployments.map((name) => signalsOf(name, state.deployments.get(name) ?? unknownDeployment(), at)),
    ),
    standing: verb((limits) => standing(state, limits, at)),
    counters: async () => Object.fromEntries([...state.counters].filter(([field]) => isCounter(field))),
    entries: verb((log, limit) => (state.logs.get(log) ?? []).slice(0, limit)),
    get: verb((key) => valuesOf(state, key).get(key)),
    getAll: verb((keys) => keys.map((key) => valuesOf(state, key).get(key))),
    put: verb(put),
    putNew: verb((key, value, ttlSeconds) => {
      if (valuesOf(state, key).get(key) !== undefined) return false
      put(key, value, ttlSeconds)
      return true
    }),
    take: verb((key) => {
      const values = valuesOf(state, key)
      const value = values.get(key)
      values.delete(key)
      return value
    }),
    remove: verb((...keys) => removeKeys(state, keys, at)),
    mode: () => 'local' as const,
    ping: async () => {},
    close: async () => {},
  }
}
