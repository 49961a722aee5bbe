import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configuration, deployment } from '../../support/configuration.ts'
import { chatInit, MASTER_KEY } from '../../support/gateway.ts'
import { type Asked, onThePath, since } from './asked.ts'
import { COUNTED_GATEWAYS, type CountedGateway, countedGatewaysExist, quiet } from './counted-gateways.ts'
import { type LookingUpstream, lookingUpstream } from './looking-upstream.ts'

const LIMITS = { rpm_limit: 100_000, tpm_limit: 100_000_000, max_budget: 10_000, max_parallel_requests: 1000 }
const PRICES = { input_cost_per_token: 0.000001, output_cost_per_token: 0.000002 }

describe.skipIf(!countedGatewaysExist())('what a call asks of the stores where answers are cached', () => {
  describe.each(Object.entries(COUNTED_GATEWAYS))('%s', (name, start) => {
    let gateway: CountedGateway
    let upstream: LookingUpstream
    let key: string
    let serial = 0

    beforeAll(async () => {
      upstream = await lookingUpstream()
      gateway = await start(
        configuration({
          general_settings: { log_level: 'warn', cache_enabled: true },
          model_list: [deployment(upstream.url, 'good', 'good', PRICES)],
        }),
      )
      const response = await fetch(
        `${gateway.url}/ui/api/keys`,
        chatInit(LIMITS, { headers: { authorization: `Bearer ${MASTER_KEY}` } }),
      )
      key = ((await response.json()) as { key: string }).key
      for (let time = 0; time < 3; time++) expect(await chat({ seed: ++serial })).toBe('miss')
    })
    afterAll(async () => {
      await gateway?.close()
      await upstream?.close()
    })

    async function chat(body: object): Promise<string | null> {
      const messages = [{ role: 'user', content: 'Hello' }]
      const init = chatInit({ model: 'good', messages, ...body }, { headers: { authorization: `Bearer ${key}` } })
      const response = await fetch(`${gateway.url}/v1/chat/completions`, init)
      expect(response.status).toBe(200)
      await response.arrayBuffer()
      return response.headers.get('x-gateway-cache')
    }

    /** What was asked before each upstream call, and until all was quiet again. */
    async function watched(run: () => Promise<void>) {
      const before = await quiet(gateway)
      upstream.arrivals.length = 0
      upstream.look = gateway.asked
      await run()
      upstream.look = undefined
      const after = since(before, await quiet(gateway))
      return { arrivals: (upstream.arrivals as Asked[]).map((one) => since(before, one)), after }
    }

    it.each([false, true])(
      'a miss (streamed: %s): one question before the upstream call, one after it',
      async (stream) => {
        serial += 1
        const { arrivals, after } = await watched(async () => {
          expect(await chat({ seed: serial, stream })).toBe('miss')
        })
        expect(arrivals.map(({ store }) => store)).toEqual([['admit']])
        expect(after.store).toEqual(['admit', 'settle'])
        expect(onThePath(after)).toEqual([])
      },
    )

    it.each([false, true])('a hit (streamed: %s): one question', async (stream) => {
      serial += 1
      await chat({ seed: serial, stream })
      const { arrivals, after } = await watched(async () => {
        expect(await chat({ seed: serial, stream })).toBe('hit')
      })
      expect(arrivals).toEqual([])
      expect(after.store[0]).toBe('admit')
      // Where processes share no memory, hits are counted in the store, at most once a second.
      if (name.startsWith('workerd')) expect([[], ['settle']]).toContainEqual(after.store.slice(1))
      else expect(after.store).toEqual(['admit'])
      expect(onThePath(after)).toEqual([])
    })

    it('a hundred hits: a hundred questions', async () => {
      serial += 1
      await chat({ seed: serial })
      const { after } = await watched(async () => {
        for (let time = 0; time < 100; time++) expect(await chat({ seed: serial })).toBe('hit')
      })
      expect(after.store.filter((verb) => verb === 'admit')).toHaveLength(100)
      expect(after.store.length).toBeLessThanOrEqual(name.startsWith('workerd') ? 110 : 100)
      expect(onThePath(after)).toEqual([])
    })
  })
})
