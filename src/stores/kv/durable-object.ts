import { together } from '../../lib/together.ts'
import { strictly, within } from './deadline.ts'
import type { Verb } from './durable-object/object-store.ts'
import type { Settlement, SharedStore } from './shared-store.ts'
import { StoreUnavailable } from './store-unavailable.ts'

/** A Durable Object that holds the store, as its namespace gives it. */
export interface StoreStub {
  ask(verb: Verb, input: readonly unknown[], at?: number): Promise<unknown>
}

/** The shared store in a Durable Object. `stub` is asked for each request: one that has failed stays broken. */
export function durableObjectStore(stub: () => StoreStub, { now }: { readonly now?: () => number } = {}): SharedStore {
  async function ask<Output>(verb: Verb, ...input: readonly unknown[]): Promise<Output> {
    try {
      return (await stub().ask(verb, input, now?.())) as Output
    } catch (error) {
      throw unavailable(error)
    }
  }
  return {
    admit: (call) => ask('admit', call),
    startAttempt: (start) => ask('startAttempt', start),
    settle: together<Settlement, Awaited<ReturnType<SharedStore['settle']>>>(
      (outcome) => ask('settle', outcome),
      (outcomes) => ask('settleAll', ...outcomes),
    ),
    renew: (lease) => ask('renew', lease),
    raise: (spent) => ask('raise', spent),
    publish: (change) => ask('publish', change),
    stamp: (key, ttlSeconds) => ask('stamp', key, ttlSeconds),
    signals: (deployments) => ask('signals', deployments),
    standing: (limits) => ask('standing', limits),
    counters: () => ask('counters'),
    entries: (log, limit) => ask('entries', log, limit),
    get: (key) => ask('get', key),
    getAll: (keys) => ask('getAll', keys),
    put: (key, value, ttlSeconds) => ask('put', key, value, ttlSeconds),
    putNew: (key, value, ttlSeconds) => ask('putNew', key, value, ttlSeconds),
    take: (key) => ask('take', key),
    remove: (...keys) => ask('remove', ...keys),
    mode: () => 'shared',
    async ping(timeoutMs) {
      await within(strictly(timeoutMs), ask('entries', '', 0))
    },
    async close() {},
  }
}

/** An error without the runtime's message, which may quote the request. `remote`: the object itself threw it. */
function unavailable(error: unknown): StoreUnavailable {
  return new StoreUnavailable((error as { remote?: unknown } | null)?.remote === true ? 'failed' : 'unreachable')
}
