import { expect, it } from 'vitest'
import { budgetedCalls, type Deed, placed } from '../../support/budgeted-calls.ts'
import { seededRandom } from '../../support/random.ts'

const LIVES = 30
const MODELS = ['cheap', 'dear', 'spare', 'mixed', 'other']

const group = (name: string, ...models: string[]) => ({
  name,
  enabled: true,
  members: models.map((model_name) => ({ model_name, enabled: true })),
})

/** Calls that fail, fall back, break off and are gone on with, under budgets of every level and of models. */
it('no account of any level or model pays more than it has, whatever way calls go', async () => {
  const seen = { served: 0, refused: 0, fellBack: 0, rescued: 0 }
  for (let seed = 1; seed <= LIVES; seed++) {
    const random = seededRandom(seed)
    const info = () => ({
      input_cost_per_token: 0,
      output_cost_per_token: random.pick([0.0001, 0.001, 0.003]),
      supports_assistant_prefix: random.next() < 0.7,
      weight: random.integer(1, 3),
    })
    const calls = budgetedCalls(
      {
        router_settings: {
          routing_strategy: random.pick(['weighted', 'simple-shuffle', 'cost-based-routing']),
          cooldown_time: 0,
          num_retries: random.integer(0, 1),
          retry_after: 0.001,
          model_group_alias: { nick: 'dear' },
        },
        gateway_settings: { fallbacks: [{ cheap: ['dear'] }, { mixed: ['spare', 'dear'] }, { other: ['mixed'] }] },
        model_list: [
          placed('cheap', 'c1', info()),
          placed('cheap', 'c2', info()),
          placed('dear', 'd1', info()),
          placed('dear', 'd2', info()),
          placed('spare', 's1', info()),
          placed('mixed', 'hidden', info()),
          placed('other', 'o1', info()),
        ],
      },
      { groups: [group('mixed', 'cheap', 'dear', 'spare')] },
    )
    const money = () => ({ max_budget: random.pick([0.3, 2, 5, 1000]) })
    const perModel = () => ({
      model_max_budget: Object.fromEntries(
        random
          .shuffle([...MODELS, 'nick'])
          .flatMap((name) => (random.next() < 0.3 ? [[name, random.pick([0, 0.2, 1])]] : [])),
      ),
    })
    const from = calls.caller({
      org: money(),
      team: { ...money(), ...perModel() },
      user: money(),
      key: { ...money(), ...perModel() },
    })
    await Promise.all(
      Array.from({ length: 200 }, async (_, at) => {
        await new Promise((resolve) => setTimeout(resolve, at % 11))
        const deed: Deed = {
          output: random.integer(0, 60),
          ms: random.integer(0, 3),
          ...(random.next() < 0.3 ? { failsAt: random.pick(['c', 'd', 'o']), status: 500 } : {}),
          ...(random.next() < 0.3 ? { cutAfter: random.integer(1, 5) } : {}),
        }
        const body = {
          model: random.pick([...MODELS, 'nick']),
          max_tokens: random.integer(10, 60),
          stream: random.next() < 0.6,
        }
        const { status } = await calls.ask(from, body, deed)
        if (status === 200) seen.served += 1
        else if (status === 429) seen.refused += 1
      }),
    )
    await calls.idle()
    for (const { subject, limitNano = 0, periodAt } of from.accounts) {
      const paid = calls.finished.reduce((sum, { charges, costNano = 0 }) => {
        const charge = charges.find((one) => one.subject === subject)
        return charge ? sum + (charge.costNano ?? costNano) : sum
      }, 0)
      expect(paid, `seed ${seed}: ${subject}`).toBeLessThanOrEqual(limitNano)
      // The store says the same, and holds nothing any more.
      const budget = {
        scope: 'test',
        subject,
        limitNano: paid + 1,
        holdNano: 1,
        period: periodAt(Date.now()),
        seedNano: 0,
      }
      const nothing = { versions: [], quotas: [], tokens: 0, slots: [], candidates: [], leaseSeconds: 1 }
      const told = await calls.services.store.admit({
        callId: `look-${seed}-${subject}`,
        attemptId: 'a',
        ...nothing,
        budgets: [budget],
      })
      expect(told, `seed ${seed}: ${subject}`).toMatchObject({ kind: 'admitted', spentNano: [paid] })
    }
    for (const { tried, rescuedFrom, model, requestedModel } of calls.finished) {
      if (rescuedFrom.length > 0) seen.rescued += 1
      if (tried.length > 1 && model !== requestedModel) seen.fellBack += 1
    }
  }
  for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(10)
}, 120_000)
