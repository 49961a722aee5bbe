import { asList, asRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { Terms, ToolUses } from '../../modes/price/surcharges.ts'
import { type Usage, usageOf } from '../../modes/usage.ts'
import { count } from '../openai/usage.ts'

/** The usage that the Messages API reports. Its input excludes the tokens read from and written to the cache. A stream
 *  reports it in parts: later values replace earlier ones, except zeros, which some vendors send for values that they
 *  reported before. undefined if all reports are empty. */
export function messagesUsage(...reports: readonly unknown[]): Usage | undefined {
  const known = reports
    .flatMap((report) => Object.entries(asRecord(report)))
    .filter(([, value]) => value !== null && value !== 0)
  const usage: JsonRecord = Object.fromEntries(known)
  const sampled = samplingsOf(usage)
  const sum = (field: string) => sampled.reduce((total, one) => total + count(one[field]), 0)
  const cachedInputTokens = sum('cache_read_input_tokens')
  const cacheCreationInputTokens = sum('cache_creation_input_tokens')
  const inputTokens = sum('input_tokens') + cachedInputTokens + cacheCreationInputTokens
  const outputTokens = sum('output_tokens')
  if (inputTokens + outputTokens === 0) return undefined
  const reasoningTokens = count(asRecord(usage.output_tokens_details).thinking_tokens)
  return usageOf({
    inputTokens,
    outputTokens,
    cachedInputTokens,
    cacheCreationInputTokens,
    // A pass need not tell how long its part is kept.
    cacheCreation1hInputTokens: Math.max(
      writtenFor1h(usage),
      sampled.reduce((total, one) => total + writtenFor1h(one), 0),
    ),
    reasoningTokens,
    ...termsOf(usage),
    toolUses: toolUsesOf(usage.server_tool_use),
  })
}

const writtenFor1h = ({ cache_creation }: JsonRecord) => count(asRecord(cache_creation).ephemeral_1h_input_tokens)

/** The usage of every pass over the conversation, if there were several: the top-level usage is that of the last pass only,
 *  and compacting a conversation is a pass. */
function samplingsOf(usage: JsonRecord): readonly JsonRecord[] {
  const passes = asList(usage.iterations).map(asRecord)
  const total = (one: JsonRecord) => count(one.input_tokens) + count(one.output_tokens)
  const more = passes.reduce((sum, one) => sum + total(one), 0) > total(usage)
  return more ? passes : [usage]
}

function termsOf({ speed, inference_geo }: JsonRecord): { terms?: Terms } {
  const reported = Object.entries({ speed, inference_geo }).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value]] : [],
  )
  return reported.length === 0 ? {} : { terms: Object.fromEntries(reported) }
}

const REQUESTS = /_requests$/

function toolUsesOf(uses: unknown): ToolUses {
  return Object.fromEntries(
    Object.entries(asRecord(uses)).map(([name, times]) => [name.replace(REQUESTS, ''), count(times)]),
  )
}
