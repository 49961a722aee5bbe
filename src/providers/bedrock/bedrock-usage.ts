import { asList, asRecord, asText, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { Terms } from '../../modes/price/surcharges.ts'
import { type Usage, usageOf } from '../../modes/usage.ts'
import { count } from '../openai/usage.ts'

/** The usage that Converse reports, with the billing terms beside it. Most models exclude cached tokens from the input, some
 *  include them: the total shows which. */
export function bedrockUsage(value: unknown, answer: JsonRecord = {}): Usage | undefined {
  if (!isRecord(value)) return undefined
  const input = count(value.inputTokens)
  const outputTokens = count(value.outputTokens)
  const cachedInputTokens = count(value.cacheReadInputTokens)
  const cacheCreationInputTokens = count(value.cacheWriteInputTokens)
  const cache = cachedInputTokens + cacheCreationInputTokens
  if (input + outputTokens + cache === 0) return undefined
  const within = cache <= input && count(value.totalTokens) === input + outputTokens
  const inputTokens = within ? input : input + cache
  const cacheCreation1hInputTokens = asList(value.cacheDetails)
    .map(asRecord)
    .reduce((sum, { ttl, inputTokens }) => sum + (ttl === '1h' ? count(inputTokens) : 0), 0)
  return usageOf({
    inputTokens,
    outputTokens,
    cachedInputTokens,
    cacheCreationInputTokens,
    cacheCreation1hInputTokens,
    ...termsOf(answer),
  })
}

function termsOf({ serviceTier, performanceConfig }: JsonRecord): { terms?: Terms } {
  const tier = asText(asRecord(serviceTier).type)
  const latency = asText(asRecord(performanceConfig).latency)
  if (tier === '' && latency === '') return {}
  return {
    terms: {
      ...(tier === '' ? {} : { service_tier: tier }),
      ...(latency === '' ? {} : { performanceConfig: latency }),
    },
  }
}
