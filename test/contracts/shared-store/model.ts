import { expect, it } from 'vitest'
import { inProcessStore } from '../../../src/stores/kv/in-process.ts'
import { seededRandom } from '../../support/random.ts'
import { observe, sharedStoreSteps } from '../../support/shared-store-steps.ts'
import type { World } from './world.ts'

/** Random lives, answered as the in-process store answers them. */
export function modelContract({ fresh, lives, steps }: World): void {
  it.runIf(lives > 0)(
    `answers ${lives} random lives of ${steps} steps as the model does`,
    {
      timeout: 120_000,
    },
    async () => {
      const seen: Record<string, number> = {}
      for (let seed = 1; seed <= lives; seed++) {
        const { store, clock } = fresh()
        const model = inProcessStore({ now: clock.now })
        const nextStep = sharedStoreSteps(seededRandom(seed), clock)
        for (let at = 1; at <= steps; at++) {
          const step = nextStep()
          const expected = await step.run(model)
          const answer = await step.run(store)
          const told = `life ${seed}, step ${at}: ${step.name} ${JSON.stringify(step.input)}`
          expect(answer, told).toEqual(expected)
          if (at % 20 === 0) expect(await observe(store), `after ${told}`).toEqual(await observe(model))
          const cached = (expected as { cached?: { state: string } } | undefined)?.cached?.state
          if (cached) seen[cached] = (seen[cached] ?? 0) + 1
          const kind = (expected as { kind?: string; reason?: string } | undefined)?.kind
          const reason = (expected as { reason?: string } | undefined)?.reason ?? ''
          if (kind) seen[kind + reason] = (seen[kind + reason] ?? 0) + 1
        }
      }
      // A life in which nothing is ever refused would prove nothing.
      for (const kind of ['admitted', 'stale', 'refusedquota', 'refusedslot', 'refusedbudget']) {
        expect(seen[kind] ?? 0, `${kind} in ${JSON.stringify(seen)}`).toBeGreaterThan(lives)
      }
      for (const state of ['hit', 'follow', 'lead', 'alone']) {
        expect(seen[state] ?? 0, `${state} in ${JSON.stringify(seen)}`).toBeGreaterThan(lives / 3)
      }
    },
  )
}
