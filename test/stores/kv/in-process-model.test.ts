import { expect, it } from 'vitest'
import { inProcessStore } from '../../../src/stores/kv/in-process.ts'
import type { Admission, Change, Lease, Settlement } from '../../../src/stores/kv/shared-store.ts'
import type { BudgetSpent } from '../../../src/stores/sql/records/budget-records.ts'
import { testClock } from '../../support/clock.ts'
import { seededRandom } from '../../support/random.ts'
import { sharedStoreSteps } from '../../support/shared-store-steps.ts'
import { tinyModel } from './tiny-model.ts'

const LIVES = 100
const STEPS = 1000

// The other adapters are compared with the in-process store, and that with a model which shares nothing with it.
it(`${LIVES * STEPS} random steps of calls, crashes, changes and time are decided as the plainest model decides them`, async () => {
  const seen: Record<string, number> = {}
  for (let seed = 1; seed <= LIVES; seed++) {
    const clock = testClock(Date.UTC(2026, 1, 10, 20, 17, 23, 456))
    const store = inProcessStore({ now: clock.now })
    const model = tinyModel(clock.now)
    const nextStep = sharedStoreSteps(seededRandom(10_000 + seed), clock)
    for (let at = 1; at <= STEPS; at++) {
      const step = nextStep()
      const expected =
        step.name === 'admit'
          ? model.admit(step.input as Admission)
          : step.name === 'settle'
            ? model.settle(step.input as Settlement)
            : step.name === 'renew'
              ? model.renew(step.input as Lease)
              : step.name === 'publish'
                ? model.publish(step.input as Change)
                : step.name === 'raise'
                  ? model.raise(step.input as readonly BudgetSpent[])
                  : step.name === 'stamp'
                    ? model.stamp(step.input as string)
                    : undefined
      const answer = await step.run(store)
      if (step.name !== 'admit') continue
      const told = `life ${seed}, step ${at}: ${JSON.stringify(step.input)}`
      const { reserved: _reserved, signals: _signals, ...decided } = answer as Record<string, unknown>
      if (!same(decided, expected)) expect(decided, told).toEqual(expected)
      const { kind, reason = '' } = decided as { kind: string; reason?: string }
      const cached = (decided as { cached?: { state: string } }).cached?.state
      if (cached) seen[cached] = (seen[cached] ?? 0) + 1
      seen[kind + reason] = (seen[kind + reason] ?? 0) + 1
    }
  }
  for (const kind of ['admitted', 'stale', 'refusedquota', 'refusedslot', 'refusedbudget']) {
    expect(seen[kind] ?? 0, JSON.stringify(seen)).toBeGreaterThan(10 * LIVES)
  }
  for (const state of ['hit', 'follow', 'lead', 'alone']) {
    expect(seen[state] ?? 0, JSON.stringify(seen)).toBeGreaterThan(LIVES)
  }
}, 60_000)

/** Far cheaper than an assertion, for all that is well. */
function same(one: unknown, other: unknown): boolean {
  const text = (value: unknown) => JSON.stringify(Object.entries(value as object).sort())
  return text(one) === text(other)
}
