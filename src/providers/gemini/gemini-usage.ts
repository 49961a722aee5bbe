import { asList, asRecord } from '../../lib/json/lenient.ts'
import { type Usage, usageOf } from '../../modes/usage.ts'
import { count } from '../openai/usage.ts'

/** Usage as Gemini reports it: its prompt includes what was cached, its candidates exclude what was thought. undefined
 *  when nothing usable is there. */
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
