import * as z from 'zod'
import { lazily } from '../../../lib/lazily.ts'
import { dollarsOf } from '../../../lib/money.ts'
import { LATENCY_SUMS } from '../../../stores/sql/spend/latency-sums.ts'
import type { Sums } from '../../../stores/sql/spend/spend-reports.ts'
import { SPEND_SUMS } from '../../../stores/sql/spend/spend-sums.ts'
import { usageFields } from './fact-fields.ts'
import { percentileFields, percentilesOf } from './percentiles.ts'

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
    ...percentileFields('', 'The whole time'),
    ...percentileFields('first_token_', 'The time to the first token'),
  }),
)

/** The sums that answers show without conversion. */
const COUNTS = SPEND_SUMS.filter(
  (name) => !LATENCY_SUMS.has(name) && !['cost_nano', 'saved_nano', 'total_ms'].includes(name),
)

export function sumsAnswer(sums: Sums): z.output<ReturnType<typeof spendSums>> {
  const { cost_nano, saved_nano, total_ms } = sums
  const numbers = Object.fromEntries(COUNTS.map((name) => [name, Number(sums[name])]))
  const { calls } = numbers
  return {
    spend: dollarsOf(cost_nano),
    saved: dollarsOf(saved_nano),
    ...numbers,
    average_ms: calls ? Number(total_ms) / calls : null,
    ...percentilesOf('', 'total_ms', sums),
    ...percentilesOf('first_token_', 'first_token_ms', sums),
  } as z.output<ReturnType<typeof spendSums>>
}
