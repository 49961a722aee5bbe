import { expect, it } from 'vitest'
import * as z from 'zod'
import type { ApiServices } from '../../../../src/api/scope.ts'
import { answersOf } from '../../../../src/api/ui/records/record-answer.ts'
import { storeClock } from '../../../../src/pipeline/admit/store-clock.ts'
import type { BudgetPeriod } from '../../../../src/stores/sql/records/budget-records.ts'

it('what a record has spent is shown of the period that is current by the clock of the store, as calls are charged', async () => {
  const ahead = { now: () => Date.parse('2026-03-01T00:05:00Z') }
  const clock = storeClock(ahead)
  clock.learn(Date.parse('2026-02-28T23:55:00Z'), ahead.now())
  const spent = async (of: readonly BudgetPeriod[]) => of.map(({ period }) => (period.startsWith('2026-02') ? 5e9 : 0))
  const services = { clock: ahead, storeClock: clock, budgets: { spent } } as unknown as ApiServices
  const kind = { level: 'team', id: 'team_id', answer: () => z.object({ spend: z.number() }) } as const
  const team = { team_id: 'red', budget_duration: '1mo', budget_started_at: '2026-01-01T00:00:00Z' }
  expect(await answersOf(services, kind as never, [team as never])).toEqual([{ spend: 5 }])
})
