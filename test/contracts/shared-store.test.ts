import { describe, expect, inject, it } from 'vitest'
import type { StoreNamespace } from '../../src/runtimes/workers/adapters.ts'
import { durableObjectStore } from '../../src/stores/kv/durable-object.ts'
import { inProcessStore } from '../../src/stores/kv/in-process.ts'
import type { SharedStore } from '../../src/stores/kv/shared-store.ts'
import { upstashStore } from '../../src/stores/kv/upstash.ts'
import { rawRedis } from '../support/raw-redis.ts'
import { admitted, budget, call, settlement } from './shared-store/world.ts'
import { sharedStoreContract } from './shared-store.ts'

const byPrefix = new Map<string, SharedStore>()
sharedStoreContract('in process', {
  open({ prefix, now = Date.now }) {
    const store = byPrefix.get(prefix) ?? inProcessStore({ now })
    byPrefix.set(prefix, store)
    return store
  },
  // It is the model.
  lives: 0,
  steps: 0,
})

// The specifier is a variable, because Node knows no such module.
const workers = 'cloudflare:test'

if (navigator.userAgent === 'Cloudflare-Workers') {
  const { env } = (await import(/* @vite-ignore */ workers)) as { env: { SHARED_STORE: StoreNamespace } }
  const { SHARED_STORE: objects } = env
  sharedStoreContract('in a Durable Object', {
    open: ({ prefix, ...clock }) => durableObjectStore(() => objects.get(objects.idFromName(prefix), {}), clock),
    lives: 15,
    steps: 150,
  })
}

const url = inject('redisHttpUrl')
const token = inject('redisHttpToken')
describe.skipIf(!url)('Redis over HTTP', () => {
  sharedStoreContract('upstash', {
    open: (options) => upstashStore({ url, token, ...options, timeoutMs: 5000 }),
    raw: rawRedis(url, token),
    lives: 15,
    steps: 150,
  })

  it('settles calls of the same moment, each once, with a server that has forgotten every script', async () => {
    const store = upstashStore({ url, token, prefix: `together:${Math.random()}:`, timeoutMs: 5000 })
    const limit = 1_000_000
    const calls = Array.from({ length: 60 }, () => call({ budgets: [budget(limit, 1000)] }))
    await Promise.all(calls.map((one) => admitted(store, one)))
    await rawRedis(url, token).command('SCRIPT', 'FLUSH')
    const spent = { subject: 'team:1', period: '2026-02', holdNano: 1000, spentNano: 7 }
    const settle = ({ callId }: { callId: string }) => store.settle(settlement(callId, { budgets: [spent] }))
    await Promise.all([...calls, ...calls].map(settle))
    expect(await admitted(store, call({ budgets: [budget(limit, 1)] }))).toMatchObject({ spentNano: [7 * 60] })
  })
})
