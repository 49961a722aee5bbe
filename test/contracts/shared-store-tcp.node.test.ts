import { afterAll, describe, inject } from 'vitest'
import { redisTcpStore } from '../../src/stores/kv/redis-tcp.node.ts'
import type { SharedStore } from '../../src/stores/kv/shared-store.ts'
import { rawRedis } from '../support/raw-redis.ts'
import { sharedStoreContract } from './shared-store.ts'

const url = inject('redisUrl')

describe.skipIf(!url)('Redis over TCP', () => {
  const opened: SharedStore[] = []
  afterAll(() => Promise.all(opened.map((store) => store.close())))

  sharedStoreContract('redis', {
    open(options) {
      const store = redisTcpStore({ url, ...options })
      opened.push(store)
      return store
    },
    raw: rawRedis(inject('redisHttpUrl'), inject('redisHttpToken')),
    lives: 40,
    steps: 200,
  })
})
