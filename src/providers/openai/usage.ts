import { asRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import { nanoOf } from '../../lib/money.ts'
import type { ToolUses } from '../../modes/price/surcharges.ts'
import { type Usage, usageOfTokens } from '../../modes/usage.ts'

/** The usage that an OpenAI-shaped answer reports, with the billing terms beside it. undefined if it is absent, null or all
 *  zero. */
export function openaiUsage(value: unknown, { service_tier: tier }: JsonRecord = {}): Usage | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const usage = value as Record<string, unknown>
  const inputTokens = count(usage.prompt_tokens ?? usage.input_tokens)
  const reported = count(usage.completion_tokens ?? usage.output_tokens)
  const input = asRecord(usage.prompt_tokens_details ?? usage.input_tokens_details ?? usage.input_token_details)
  const output = asRecord(usage.completion_tokens_details ?? usage.output_tokens_details ?? usage.output_token_details)
  const reasoningTokens = count(output.reasoning_tokens)
  // Some vendors report reasoning tokens apart from the output tokens, though they bill them as such: the total shows it.
  const apart = reasoningTokens > 0 && usage.total_tokens === inputTokens + reported + reasoningTokens
  const outputTokens = apart ? reported + reasoningTokens : reported
  if (inputTokens + outputTokens === 0) return undefined
  return {
    ...usageOfTokens(inputTokens, outputTokens),
    cachedInputTokens: count(input.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens),
    cacheCreationInputTokens: count(input.cache_creation_tokens ?? input.cache_write_tokens),
    cacheCreation1hInputTokens: count(asRecord(input.cache_write_tokens_details).ttl_12h_tokens),
    reasoningTokens,
    audioInputTokens: count(input.audio_tokens),
    audioOutputTokens: count(output.audio_tokens),
    imageInputTokens: count(input.image_tokens),
    terms: typeof tier === 'string' ? { service_tier: tier.toLowerCase() } : undefined,
    toolUses: searches(usage),
    reportedNano: reportedCost(usage),
  }
}

/** The usage of a request that has what is written to the cache kept for twelve hours, where its answer tells no time. */
export function writtenForLong(usage: Usage | undefined): Usage | undefined {
  if (!usage || usage.cacheCreation1hInputTokens > 0) return usage
  return { ...usage, cacheCreation1hInputTokens: usage.cacheCreationInputTokens }
}

/** The searches of vendors that search unasked and report the number in the usage. */
function searches({ num_sources_used: sources, num_search_queries: queries }: JsonRecord): ToolUses | undefined {
  if (sources === undefined && queries === undefined) return undefined
  return { live_search: count(sources), web_search: count(queries) }
}

/** What a call has cost in nano-dollars as its vendor says: xAI tells it in ticks, Perplexity as a sum, both with their tools;
 *  OpenRouter what it charges itself, and what the vendor charges for a key of the account's own. */
export function reportedCost(usage: JsonRecord): number | undefined {
  const { cost_in_usd_ticks: ticks, cost, cost_details: details, is_byok: byOwnKey } = usage
  if (typeof ticks === 'number') return nanoWithin(ticks / TICKS)
  const { total_cost: total, currency } = asRecord(cost)
  if (typeof total === 'number' && currency === 'USD') return nanoWithin(total)
  if (typeof cost !== 'number' || (details === undefined && byOwnKey === undefined)) return undefined
  const atVendor = byOwnKey === true ? Number(asRecord(details).upstream_inference_cost) : 0
  return nanoWithin(cost + atVendor)
}

function nanoWithin(dollars: number): number | undefined {
  return dollars >= 0 && dollars <= MOST_DOLLARS ? nanoOf(dollars) : undefined
}

/** xAI's in a dollar. */
const TICKS = 1e10

/** More is no cost of one call. */
const MOST_DOLLARS = 1e6

/** More is no count of one call. */
const MOST = 1e9

/** A count that a vendor reports; 0 for anything that is not a plausible number. */
export function count(value: unknown): number {
  return typeof value === 'number' && value > 0 && value <= MOST ? Math.floor(value) : 0
}
