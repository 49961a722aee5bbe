import * as z from 'zod'
import { lazily } from '../../../lib/lazily.ts'
import { dollarsOf } from '../../../lib/money.ts'
import type { Sums } from '../../../stores/sql/spend/spend-reports.ts'
import { usageFields } from './fact-fields.ts'

/** Sums of calls. Money is US dollars. */
export const spendSums = lazily(() =>
  z.object({
    spend: z.number().describe('US dollars, as far as prices are known.'),
    saved: z.number().describe('US dollars that answers from the cache saved.'),
    calls: z.int(),
    failed_calls: z.int().describe('Failed, or broken off after they began.'),
    cached_calls: z.int().describe('Answered from the cache.'),
    estimated_calls: z.int().describe('Calls whose provider reported no usage; it was estimated.'),
    unpriced_calls: z.int().describe('Calls whose price is unknown; they add nothing to `spend`.'),
    ...usageFields(),
    average_ms: z
      .number()
      .nullable()
      .describe('From the arrival of a call to the end of its answer; null without calls.'),
  }),
)

export function sumsAnswer({
  cost_nano,
  saved_nano,
  total_ms,
  ...counts
}: Sums): z.output<ReturnType<typeof spendSums>> {
  const numbers = Object.fromEntries(Object.entries(counts).map(([name, value]) => [name, Number(value)]))
  const { calls } = numbers
  return {
    spend: dollarsOf(cost_nano),
    saved: dollarsOf(saved_nano),
    ...numbers,
    average_ms: calls ? Number(total_ms) / calls : null,
  } as z.output<ReturnType<typeof spendSums>>
}
