import * as z from 'zod'
import { lazily } from '../../../lib/lazily.ts'
import { dollarsOf, NANO } from '../../../lib/money.ts'
import { pricedParts } from '../../../modes/price/cost.ts'
import { PRICED_UNITS, type PricePart } from '../../../modes/price/price-parts.ts'
import { type Usage, usageOf } from '../../../modes/usage.ts'
import type { Registry } from '../../../routing/registry.ts'
import type { AttemptDetail } from '../../../stores/sql/spend/call-detail.ts'
import type { DetailedCall } from '../../../stores/sql/spend/spend-log.ts'
import { MODEL_ENDPOINTS } from '../../v1/model-endpoints.ts'

const part = lazily(() =>
  z.object({
    deployment: z.string(),
    unit: z
      .enum(PRICED_UNITS)
      .describe('What the price is of. Parts of the input are counted apart from the rest of it.'),
    tool: z.string().nullable().describe('The tool of `tool_uses`.'),
    count: z.number(),
    price: z.number().describe('US dollars each.'),
    times: z
      .array(z.object({ name: z.string(), by: z.number() }))
      .describe('Multipliers: `batch`, `long_context`, or a term such as `service_tier/priority`.'),
    amount: z.number().describe('US dollars: count, price and multipliers, multiplied.'),
  }),
)

/** How the cost of a call comes about. */
export const callPrice = lazily(() =>
  z.object({
    parts: z.array(part()),
    total: z.number().describe('US dollars, at the prices of now.'),
    exact: z.boolean().describe('Whether that is what the call cost. If not, prices have changed since.'),
  }),
)

type Price = z.output<ReturnType<typeof callPrice>>

/** The arithmetic of a call's cost, at the prices that its deployments have now; null where there is none: for answers
 *  of the cache, and where a price, a deployment or an attempt is unknown. */
export function priceOfCall(
  call: DetailedCall,
  attempts: readonly AttemptDetail[],
  { groups }: Pick<Registry, 'groups'>,
): Price | null {
  const mode = MODEL_ENDPOINTS.find(({ mode: { name } }) => name === call.mode)?.mode
  // What a long call's attempts in the middle used is not stored.
  const isWhole = attempts.length === Number(call.attempts)
  if (!mode || !isWhole || call.cost_nano === null || call.cache === 'hit') return null
  const parts: Price['parts'] = []
  let totalNano = 0
  for (const attempt of attempts) {
    if (attempt.result === 'lost_hedge' || attempt.cost_nano === undefined || attempt.cost_nano === 0) continue
    const deployment = groups.flatMap((group) => group.deployments).find(({ id }) => id === attempt.deployment)
    const used = usedBy(call, attempt, attempts)
    const priced = deployment && used && pricedParts(mode, deployment.info, used, call.batch_id !== '')
    if (!priced) return null
    totalNano += priced.nano
    parts.push(...priced.parts.map((one) => partAnswer(attempt.deployment, one)))
  }
  if (parts.length === 0) return null
  return { parts, total: dollarsOf(totalNano), exact: totalNano === Number(call.cost_nano) }
}

/** The usage of an attempt: its own where that is stored, else the call's. */
function usedBy(call: DetailedCall, { usage }: AttemptDetail, { length }: readonly unknown[]): Usage | undefined {
  if (usage) return usageOf(usage as Partial<Usage>)
  if (length !== 1) return undefined
  return usageOf({
    inputTokens: Number(call.input_tokens),
    outputTokens: Number(call.output_tokens),
    cachedInputTokens: Number(call.cached_input_tokens),
    cacheCreationInputTokens: Number(call.cache_creation_input_tokens),
    reasoningTokens: Number(call.reasoning_tokens),
    images: Number(call.images),
    audioSeconds: Number(call.audio_seconds),
    characters: Number(call.characters),
    rerankUnits: Number(call.rerank_units),
  })
}

function partAnswer(deployment: string, { unit, tool, count, price, times }: PricePart): Price['parts'][number] {
  const amount = times.reduce((product, { by }) => product * by, count * price)
  return {
    deployment,
    unit,
    tool: tool ?? null,
    count,
    price: rounded(price),
    times: [...times],
    amount: rounded(amount),
  }
}

/** Twelve digits of nano-dollars hide the error of binary fractions and keep the price of a single token. */
const rounded = (dollars: number) => Number((dollars * NANO).toPrecision(12)) / NANO
