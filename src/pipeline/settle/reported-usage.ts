import { tokensOfCharacters, type Usage } from '../../modes/usage.ts'
import type { Call } from '../call.ts'

/** What the provider has reported so far. Where it has counted nothing of what was said, as in a stream that begins with
 *  the usage of its input and then is cut, that part is estimated. */
export function reportedUsage({ usage, outputCharacters, endpoint }: Call): Usage | undefined {
  if (!usage || usage.outputTokens > 0 || outputCharacters === 0 || endpoint.mode.unit !== 'tokens') return usage
  return { ...usage, outputTokens: tokensOfCharacters(outputCharacters), estimated: true }
}
