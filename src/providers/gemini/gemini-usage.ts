import { asList, asRecord, asText, entryOf } from '../../lib/json/lenient.ts'
import { type Usage, usageOf } from '../../modes/usage.ts'
import { count } from '../openai/usage.ts'

/** The header in which the Gemini API tells the tier that has served a call: another than the asked one, where that has no
 *  capacity left. */
const TIER = 'x-gemini-service-tier'
/** The tiers of Vertex's kinds of traffic. */
const TIERS: Readonly<Record<string, string>> = {
  ON_DEMAND: 'standard',
  ON_DEMAND_FLEX: 'flex',
  ON_DEMAND_PRIORITY: 'priority',
}

/** The usage that Gemini reports: the prompt, of each kind of content too, includes cached tokens, the candidates exclude
 *  reasoning tokens. undefined if it has no tokens. */
export function geminiUsage(value: unknown, headers: Readonly<Record<string, string>> = {}): Usage | undefined {
  const usage = asRecord(value)
  const reasoningTokens = count(usage.thoughtsTokenCount)
  const inputTokens = count(usage.promptTokenCount) + count(usage.toolUsePromptTokenCount)
  const outputTokens = count(usage.candidatesTokenCount) + reasoningTokens
  if (inputTokens + outputTokens === 0) return undefined
  const cachedInputTokens = count(usage.cachedContentTokenCount)
  const cachedAudio = tokensIn(usage.cacheTokensDetails, 'AUDIO')
  const tier = headers[TIER]?.toLowerCase() ?? entryOf(TIERS, asText(usage.trafficType))
  return usageOf({
    inputTokens,
    outputTokens,
    cachedInputTokens,
    reasoningTokens,
    audioInputTokens: tokensIn(usage.promptTokensDetails, 'AUDIO'),
    audioOutputTokens: tokensIn(usage.candidatesTokensDetails, 'AUDIO'),
    ...(cachedAudio === 0 ? {} : { cachedAudioInputTokens: cachedAudio }),
    ...(tier === undefined ? {} : { terms: { service_tier: tier } }),
  })
}

/** The tokens of one kind of content. */
export function tokensIn(details: unknown, kind: 'AUDIO' | 'IMAGE'): number {
  return asList(details)
    .map(asRecord)
    .reduce((sum, { modality, tokenCount }) => sum + (modality === kind ? count(tokenCount) : 0), 0)
}
