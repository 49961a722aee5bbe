import { asList, asRecord } from '../../lib/json/lenient.ts'
import { type Usage, usageOf } from '../../modes/usage.ts'
import { count } from '../openai/usage.ts'

/** The usage that Gemini reports: the prompt includes cached tokens, the candidates exclude reasoning tokens. undefined if
 *  it has no tokens. */
export function geminiUsage(value: unknown): Usage | undefined {
  const usage = asRecord(value)
  const reasoningTokens = count(usage.thoughtsTokenCount)
  const inputTokens = count(usage.promptTokenCount) + count(usage.toolUsePromptTokenCount)
  const outputTokens = count(usage.candidatesTokenCount) + reasoningTokens
  if (inputTokens + outputTokens === 0) return undefined
  const cachedInputTokens = count(usage.cachedContentTokenCount)
  return usageOf({
    inputTokens,
    outputTokens,
    cachedInputTokens,
    reasoningTokens,
    audioInputTokens: audioIn(usage.promptTokensDetails),
    audioOutputTokens: audioIn(usage.candidatesTokensDetails),
  })
}

function audioIn(details: unknown): number {
  return asList(details)
    .map(asRecord)
    .reduce((sum, { modality, tokenCount }) => sum + (modality === 'AUDIO' ? count(tokenCount) : 0), 0)
}
