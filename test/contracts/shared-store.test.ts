import { describe, inject } from 'vitest'
import { inProcessStore } from '../../src/stores/kv/in-process.ts'
import type { SharedStore } from '../../src/stores/kv/shared-store.ts'
import { upstashStore } from '../../src/stores/kv/upstash.ts'
import { rawRedis } from '../support/raw-redis.ts'
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

const url = inject('redisHttpUrl')
const token = inject('redisHttpToken')
describe.skipIf(!url)('Redis over HTTP', () => {
  sharedStoreContract('upstash', {
    open: (options) => upstashStore({ url, token, ...options, timeoutMs: 5000 }),
    raw: rawRedis(url, token),
    lives: 15,
    steps: 150,
  })
})
