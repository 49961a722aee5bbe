import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { strategies } from '../../src/routing/strategies/index.ts'
import { inProcessStore } from '../../src/stores/kv/in-process.ts'
import { redisTcpStore } from '../../src/stores/kv/redis-tcp.node.ts'
import type { SharedStore } from '../../src/stores/kv/shared-store.ts'
import { upstashStore } from '../../src/stores/kv/upstash.ts'
import { configuration, deployment } from '../support/configuration.ts'
import { start } from '../support/gateway.node.ts'
import { MASTER_KEY, SALT_KEY, type TestGateway } from '../support/gateway.ts'
import { answer, slowHeaders } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const redisUrl = inject('redisUrl')
const [httpUrl, token] = [inject('redisHttpUrl'), inject('redisHttpToken')]
const env = { GATEWAY_MASTER_KEY: MASTER_KEY, GATEWAY_SALT_KEY: SALT_KEY }
const messages = [{ role: 'user', content: 'Hello' }]
const RPM = 10
const AT_ONCE = 15

/** Stores of one process or of two, which see the same things. */
const STORES: Record<string, (prefix: string) => readonly SharedStore[]> = {
  'inside the process': () => [inProcessStore({ now: Date.now })],
  ...(redisUrl && {
    'in Redis, for two processes': (prefix: string) => [
      redisTcpStore({ url: redisUrl, prefix }),
      upstashStore({ url: httpUrl, token, prefix, timeoutMs: 5000 }),
    ],
  }),
}

let gateways: TestGateway[] = []
let stores: readonly SharedStore[] = []
let ids: string[] = []
let serial = 0

async function begin(store: string, routing_strategy: string): Promise<void> {
  const name = `reserved-${Date.now()}-${serial++}`
  ids = [0, 1, 2].map((at) => `${name}-${at}`)
  stores = STORES[store]?.(`${name}:`) ?? []
  const yaml = configuration({
    general_settings: { log_level: 'warn' },
    router_settings: { routing_strategy, enable_pre_call_checks: true },
    model_list: ids.map((id) => deployment(upstream.url, 'group', id, { rpm_limit: RPM })),
  })
  gateways = await Promise.all(stores.map((one) => start(yaml, env, one)))
}
afterEach(async () => {
  await Promise.all(gateways.map((gateway) => gateway.close()))
  await Promise.all(stores.map((store) => store.close()))
})

async function statuses(calls: number, atOnce: number): Promise<Record<number, number>> {
  const seen: Record<number, number> = {}
  let begun = 0
  const caller = async () => {
    while (begun < calls) {
      const response = await (gateways[begun++ % gateways.length] as TestGateway).chat({ model: 'group', messages })
      await response.arrayBuffer()
      seen[response.status] = (seen[response.status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: atOnce }, caller))
  await Promise.all(gateways.map((gateway) => gateway.idle()))
  return seen
}

const signals = async () => (await (stores[0] as SharedStore).signals(ids)) ?? []

describe.each(Object.keys(STORES))('what admission reserves, with the store %s', (store) => {
  describe.each([...strategies.keys()])('under %s', (strategy) => {
    beforeEach(() => begin(store, strategy))

    it.each([
      ['one after the other', 1],
      [`${AT_ONCE} at a time`, AT_ONCE],
    ])('is used: exactly as many calls pass as there are requests, %s', async (_, atOnce) => {
      expect(await statuses(3 * RPM, atOnce)).toEqual({ 200: 3 * RPM })
      expect((await signals()).map(({ used, active }) => [used.requests, active])).toEqual(ids.map(() => [RPM, 0]))
      expect(await statuses(3, 1)).toEqual({ 503: 3 })
    })

    it('is told exactly: as many are in flight as are asked', async () => {
      for (const id of ids) await upstream.script(id, [answer({}, slowHeaders({ ms: 1000 }))])
      const running = statuses(AT_ONCE, AT_ONCE)
      await expect
        .poll(async () => (await Promise.all(ids.map((id) => upstream.calls(id)))).flat().length)
        .toBe(AT_ONCE)
      expect((await signals()).reduce((sum, { active }) => sum + active, 0)).toBe(AT_ONCE)
      expect(await running).toEqual({ 200: AT_ONCE })
      expect((await signals()).map(({ active }) => active)).toEqual([0, 0, 0])
    })
  })
})
