import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configuration, deployment } from '../../support/configuration.ts'
import { chatInit, MASTER_KEY } from '../../support/gateway.ts'
import { type Asked, onThePath, raisesSince, since } from './asked.ts'
import { COUNTED_GATEWAYS, type CountedGateway, countedGatewaysExist, quiet } from './counted-gateways.ts'
import { type LookingUpstream, lookingUpstream } from './looking-upstream.ts'

/** How long the ledger gathers, and how often somebody looks for changes. */
const [LEDGER_MS, LOOK_MS, CALLER_MS] = [250, 2000, 20_000]
const CALLS = 300
const AT_ONCE = 8

const LIMITS = {
  rpm_limit: 100_000,
  tpm_limit: 100_000_000,
  rph_limit: 1_000_000,
  rpd_limit: 1_000_000,
  tpd_limit: 1_000_000_000,
  max_budget: 10_000,
  soft_budget: 9000,
  budget_duration: '30d',
}
const PRICES = { input_cost_per_token: 0.000001, output_cost_per_token: 0.000002 }
const SHAPES = [
  ['whole', false],
  ['streamed', true],
] as const
const messages = [{ role: 'user', content: 'Hello' }]

describe.skipIf(!countedGatewaysExist())('what a warm call asks of the stores', () => {
  describe.each(Object.entries(COUNTED_GATEWAYS))('%s', (name, start) => {
    let gateway: CountedGateway
    let upstream: LookingUpstream
    let key: string

    beforeAll(async () => {
      upstream = await lookingUpstream()
      gateway = await start(
        configuration({
          general_settings: { log_level: 'warn' },
          router_settings: {
            num_retries: 1,
            retry_after: 0.01,
            routing_strategy: 'priority-based-routing',
            cooldown_time: 0,
          },
          model_list: [
            deployment(upstream.url, 'good', 'good', PRICES),
            deployment(upstream.url, 'half', 'fails', { priority: 0, ...PRICES }),
            deployment(upstream.url, 'half', 'works', { priority: 1, ...PRICES }),
          ],
        }),
      )
      key = (await family()).key
      for (const model of ['good', 'half', 'good']) expect(await chat(key, { model })).toBe(200)
      expect(await chat(key, { model: 'good', stream: true })).toBe(200)
    })
    afterAll(async () => {
      await gateway?.close()
      await upstream?.close()
    })

    const call = (path: string, body: object, own: string) =>
      fetch(gateway.url + path, chatInit(body, { headers: { authorization: `Bearer ${own}` } }))
    async function chat(own: string, body: { model: string; stream?: boolean }): Promise<number> {
      const response = await call('/v1/chat/completions', { messages, ...body }, own)
      await response.arrayBuffer()
      return response.status
    }
    async function make(what: string, body: object): Promise<Record<string, string>> {
      const response = await call(`/ui/api/${what}`, body, MASTER_KEY)
      const made = (await response.json()) as Record<string, string>
      expect(response.status, JSON.stringify(made)).toBe(201)
      return made
    }
    /** A key that is limited in itself and in everything that it belongs to. */
    async function family(limits: object = {}): Promise<{ key: string }> {
      const { organization_id } = await make('organizations', LIMITS)
      const { team_id } = await make('teams', { organization_id, ...LIMITS })
      const { user_id } = await make('users', LIMITS)
      const { key: made = '' } = await make('keys', {
        team_id,
        user_id,
        ...LIMITS,
        max_parallel_requests: 1000,
        ...limits,
      })
      return { key: made }
    }

    /** What was asked before each upstream call, until the client had its answer, and until all was quiet again. */
    async function watched(run: () => Promise<void>) {
      const before = await quiet(gateway)
      upstream.arrivals.length = 0
      upstream.look = gateway.asked
      await run()
      const answered = since(before, await gateway.asked())
      upstream.look = undefined
      const after = since(before, await quiet(gateway))
      return { arrivals: (upstream.arrivals as Asked[]).map((one) => since(before, one)), answered, after }
    }

    it.each(SHAPES)('answered %s: one question before the upstream call, one after it, no SQL', async (_, stream) => {
      const { arrivals, answered, after } = await watched(async () => {
        expect(await chat(key, { model: 'good', stream })).toBe(200)
      })
      expect(arrivals.map(({ store }) => store)).toEqual([['admit']])
      expect(answered.store.slice(0, 2)).toEqual(['admit', 'settle'])
      expect(after.store.filter((verb) => verb !== 'settle')).toEqual(['admit'])
      expect(after.store.length).toBe(2)
      expect(onThePath(after)).toEqual([])
    })

    it('with a prompt: the same, once the process knows the prompt', async () => {
      const own = [{ role: 'system', content: 'For {{who}}.' }]
      const metadata = { prompt_ref: 'warm', prompt_variables: { who: '{{who}}' } }
      await make('prompts', { key: 'warm', messages: own })
      const ask = async () => {
        const response = await call('/v1/chat/completions', { model: 'good', messages, metadata }, key)
        await response.arrayBuffer()
        return response.headers.get('x-gateway-prompt')
      }
      await expect.poll(ask, { interval: 100 }).toBe('warm@1')
      const { arrivals, after } = await watched(async () => expect(await ask()).toBe('warm@1'))
      expect(arrivals.map(({ store }) => store)).toEqual([['admit']])
      expect(after.store).toEqual(['admit', 'settle'])
      expect(onThePath(after)).toEqual([])
    })

    it.each(SHAPES)(
      'failed over, %s: one question more for the second deployment, and the failure told beside the call',
      async (_, stream) => {
        const { arrivals, after } = await watched(async () => {
          expect(await chat(key, { model: 'half', stream })).toBe(200)
        })
        expect(arrivals.map(({ store }) => store.filter((verb) => verb !== 'settle'))).toEqual([
          ['admit'],
          ['admit', 'startAttempt'],
        ])
        expect(after.store.toSorted()).toEqual(['admit', 'settle', 'settle', 'startAttempt'])
        expect(onThePath(after)).toEqual([])
      },
    )

    it('refused: one question, no upstream call, nothing settled but metrics, no SQL', async () => {
      const { key: narrow } = await family({ rpm_limit: 2 })
      for (let time = 0; time < 2; time++) expect(await chat(narrow, { model: 'good' })).toBe(200)
      const { arrivals, answered, after } = await watched(async () => {
        expect(await chat(narrow, { model: 'good' })).toBe(429)
      })
      expect(arrivals).toEqual([])
      expect(answered.store[0]).toBe('admit')
      // Where processes share no memory, refusals are counted in the store, at most once a second.
      const told = after.store.slice(1)
      if (name.startsWith('workerd')) expect([[], ['settle']]).toContainEqual(told)
      else expect(told).toEqual([])
      expect(onThePath(after)).toEqual([])
    })

    it(`${CALLS} calls: two questions each, and no statement but the ledger's batches`, async () => {
      const [before, degraded, startedAt] = [await quiet(gateway), gateway.degraded(), performance.now()]
      let begun = 0
      const caller = async () => {
        while (begun++ < CALLS) expect(await chat(key, { model: 'good', stream: begun % 4 === 0 })).toBe(200)
      }
      await Promise.all(Array.from({ length: AT_ONCE }, caller))
      const after = await quiet(gateway)
      const asked = since(before, after)
      const elapsed = performance.now() - startedAt

      expect(onThePath(asked)).toEqual([])
      const times = (purpose: string) => asked.sql.filter((one) => one === purpose).length
      expect(times('ledger')).toBeLessThanOrEqual(name.startsWith('workerd') ? 0 : elapsed / LEDGER_MS + 1)
      if (!name.startsWith('workerd')) expect(times('ledger')).toBeGreaterThan(0)
      // The batch before these calls may have been told of late.
      expect(raisesSince(before, after)).toBeLessThanOrEqual(times('ledger') + 1)
      expect(times('refusals')).toBeLessThanOrEqual(elapsed / LEDGER_MS + 1)
      expect(times('look for changes')).toBeLessThanOrEqual(elapsed / LOOK_MS + 1)
      expect(times('look at a caller')).toBeLessThanOrEqual(elapsed / CALLER_MS + 1)
      // A machine so busy that a store seems away counts elsewhere meanwhile.
      if (gateway.degraded() > degraded) return
      const verb = (name: string) => asked.store.filter((one) => one === name).length
      expect(new Set(asked.store)).toEqual(new Set(['admit', 'settle']))
      expect(verb('admit')).toBe(CALLS)
      // Where processes share no memory, counters that came too late for a settlement follow, at most once a second.
      const late = name.startsWith('workerd') ? elapsed / 1000 + 1 : 0
      expect(verb('settle')).toBeGreaterThanOrEqual(CALLS)
      expect(verb('settle')).toBeLessThanOrEqual(CALLS + late)
    }, 60_000)

    it('is asked while the database answers nothing, and answered', async () => {
      await gateway.database.set('stalled')
      try {
        for (let time = 0; time < 20; time++) expect(await chat(key, { model: 'good' })).toBe(200)
      } finally {
        await gateway.database.set('open')
        await wait(100)
      }
    })
  })
})
