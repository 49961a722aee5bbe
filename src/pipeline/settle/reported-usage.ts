import { tokensOfCharacters, type Usage } from '../../modes/usage.ts'
import type { Call } from '../call.ts'

/** The usage reported so far. If it does not count the output, as in a stream that is cut after its input usage, the
 *  output is estimated. */
export function reportedUsage({ usage, outputCharacters, endpoint }: Call): Usage | undefined {
  if (!usage || usage.outputTokens > 0 || outputCharacters === 0 || endpoint.mode.unit !== 'tokens') return usage
  return { ...usage, outputTokens: tokensOfCharacters(outputCharacters), estimated: true }
}
