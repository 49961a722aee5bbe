import { tokensOfCharacters, type Usage } from '../../modes/usage.ts'
import type { Attempt, Call } from '../call.ts'
import { estimate, withinLimit } from './estimate.ts'

/** The usage reported so far. A side that it does not count is estimated: the output of a stream that is cut after its
 *  input usage, or the input where a provider counts its answer alone. */
export function reportedUsage(call: Call, attempt: Attempt): Usage | undefined {
  const { usage, outputCharacters, endpoint } = call
  if (!usage || endpoint.mode.unit !== 'tokens') return usage
  if (usage.outputTokens > 0) {
    if (usage.estimated) return { ...usage, outputTokens: withinLimit(usage.outputTokens, call, attempt) }
    if (usage.inputTokens > 0) return usage
    return { ...usage, inputTokens: estimate(call, attempt).inputTokens, estimated: true }
  }
  if (outputCharacters === 0) return usage
  const outputTokens = withinLimit(tokensOfCharacters(outputCharacters), call, attempt)
  return { ...usage, outputTokens, estimated: true }
}
