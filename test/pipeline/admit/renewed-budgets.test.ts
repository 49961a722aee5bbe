import { expect, it } from 'vitest'
import { GatewayError } from '../../../src/lib/errors.ts'
import { jsonLog } from '../../../src/lib/log.ts'
import { accountsOf } from '../../../src/limits/accounts.ts'
import { budgetsOf } from '../../../src/pipeline/admit/budget-holds.ts'
import { budgetNotices } from '../../../src/pipeline/admit/budget-notices.ts'
import { type Asking, decide } from '../../../src/pipeline/admit/decide.ts'
import { storeClock } from '../../../src/pipeline/admit/store-clock.ts'
import type { PipelineServices } from '../../../src/pipeline/services.ts'
import { inProcessStore } from '../../../src/stores/kv/in-process.ts'
import type { Telemetry } from '../../../src/telemetry/telemetry.ts'

const DAY_MS = 86_400_000
const NOON = Date.UTC(2026, 1, 10, 12)
const NO_LIMITS = { rpm_limit: null, tpm_limit: null, rph_limit: null, rpd_limit: null, tpd_limit: null }

/** Calls of a key with a budget of ten nano-dollars, by a process that may be ahead of the store. */
function budgeted(budget_duration: string | null) {
  const clock = { store: NOON, aheadMs: 0 }
  const now = () => clock.store + clock.aheadMs
  const store = inProcessStore({ now: () => clock.store })
  const services = {
    clock: { now },
    storeClock: storeClock({ now }),
    store,
    budgets: { spent: async (of: readonly object[]) => of.map(() => 0) },
    budgetNotices: { refused() {} },
  } as unknown as PipelineServices
  const accounts = accountsOf({
    level: 'key',
    id: '1',
    ...NO_LIMITS,
    max_budget: 10e-9,
    soft_budget: null,
    budget_duration,
    budget_started_at: '2026-02-01T00:00:00.000Z',
  })
  const caller = { accounts, versions: [], remembered: [], readAt: 0 } as unknown as Asking['caller']
  let calls = 0
  return {
    clock,
    /** The period that it was held in, or after how many seconds it may be repeated. */
    async ask(holdNano: number, spentNano?: number): Promise<string | number | undefined> {
      const callId = `call-${++calls}`
      try {
        const { asked } = await decide(services, { caller, address: '' }, (_caller, seeds) => ({
          ...{
            callId,
            attemptId: callId,
            versions: [],
            quotas: [],
            tokens: 1,
            slots: [],
            candidates: [],
            leaseSeconds: 30,
          },
          budgets: budgetsOf(accounts, () => ({ holdNano, likelyNano: holdNano }), services.storeClock.now(), seeds),
        }))
        const budgets = asked.budgets.map((budget) => ({ ...budget, spentNano: spentNano ?? 0 }))
        const nothing = { slots: [], outcomes: [], counters: {}, entries: [] }
        if (spentNano !== undefined) store.settle({ callId, budgets, ...nothing })
        return asked.budgets[0]?.period
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error
        expect(error.code).toBe('budget_exceeded')
        return error.details.retryAfterSeconds
      }
    },
  }
}

it('the periods of a budget go by the clock of the store: a process that is ahead opens none for the others, and spends none', async () => {
  const { clock, ask } = budgeted('1d')
  const [today, tomorrow] = ['2026-02-10T00:00:00.000Z', '2026-02-11T00:00:00.000Z']
  expect(await ask(1, 4)).toBe(today)
  clock.aheadMs = DAY_MS
  expect(await ask(1, 1)).toBe(today)
  expect(await ask(5, 5)).toBe(today)
  expect(await ask(1)).toBe(12 * 3600)
  clock.aheadMs = 0
  clock.store += DAY_MS / 2
  expect(await ask(1)).toBe(tomorrow)
})

it('a process whose clock is set right is charged in the present period from the next call on', async () => {
  const { clock, ask } = budgeted('1d')
  for (const aheadMs of [0, DAY_MS, 0, -DAY_MS, 0]) {
    clock.aheadMs = aheadMs
    expect(await ask(1, 1)).toBe('2026-02-10T00:00:00.000Z')
  }
})

it('a refusal of a budget says when there is room: with its next period, soon while others hold the rest, or not at all', async () => {
  const monthly = budgeted('1mo')
  expect(await monthly.ask(6)).toBe('2026-02-01T00:00:00.000Z')
  expect(await monthly.ask(5)).toBe(1)
  expect(await monthly.ask(11)).toBeUndefined()
  await monthly.ask(4, 10)
  expect(await monthly.ask(1)).toBe((18 * DAY_MS + DAY_MS / 2) / 1000)
  const once = budgeted(null)
  await once.ask(1, 10)
  expect(await once.ask(1)).toBeUndefined()
})

it('a budget without end tells that it is exceeded once, and once more when its record was made again', async () => {
  const told: string[] = []
  const emit = (event: { readonly type: string }) => void told.push(event.type)
  const notices = budgetNotices({
    records: { tell: async () => true },
    telemetry: { emit } as unknown as Telemetry,
    now: () => NOON,
    log: jsonLog('silent', () => {}),
  })
  const deferred: Promise<unknown>[] = []
  const client = { defer: (work: Promise<unknown>) => void deferred.push(work) }
  for (const since of ['2026-02-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z', '2026-02-02T00:00:00.000Z']) {
    const budget = { scope: 'key_budget', subject: 'key:1', limitNano: 10, softNano: 5, holdNano: 1, period: '', since }
    const refused = { kind: 'refused', now: NOON, reason: 'budget', ...budget, spentNano: 10 } as const
    notices.passed(client, { budgets: [budget], spentNano: [5] })
    notices.refused(client, [budget], { ...refused, resetsAt: undefined, quotas: { used: [], resetsAt: [] } })
    await Promise.all(deferred)
  }
  expect(told).toEqual(['budget.soft_exceeded', 'budget.exceeded', 'budget.soft_exceeded', 'budget.exceeded'])
})
