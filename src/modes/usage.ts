import type { Terms, ToolUses } from './price/surcharges.ts'

/** The usage of a call, as reported by the provider or estimated. Cached, cache-creation and reasoning tokens are parts
 *  of input and output, not additions to them. */
export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedInputTokens: number
  readonly cacheCreationInputTokens: number
  /** The part of `cacheCreationInputTokens` that the provider keeps for an hour or longer, at a price of its own. */
  readonly cacheCreation1hInputTokens: number
  readonly reasoningTokens: number
  /** Parts of input and output, where the provider counts audio separately. */
  readonly audioInputTokens: number
  readonly audioOutputTokens: number
  /** The part of `cachedInputTokens` and of `audioInputTokens` that is both. */
  readonly cachedAudioInputTokens?: number | undefined
  /** A part of the input, where the provider counts images separately. */
  readonly imageInputTokens: number
  readonly images: number
  /** `1024x1024`, or `hd/1024x1024` where the request has a quality; '' where it has neither. */
  readonly imageSize: string
  readonly audioSeconds: number
  readonly characters: number
  readonly rerankUnits: number
  /** Terms that change the price of the tokens, such as `service_tier: priority`. */
  readonly terms?: Terms | undefined
  /** How often the provider ran tools that it bills in addition to tokens. */
  readonly toolUses?: ToolUses | undefined
  /** What the provider says that the call has cost, in nano-dollars. It counts where no price is known. */
  readonly reportedNano?: number | undefined
  /** True if the provider reported no usage and it was estimated from characters. */
  readonly estimated: boolean
}

/** A usage with zero for everything that is left out. */
export function usageOf(known: Partial<Usage>): Usage {
  return { ...usageOfTokens(0, 0), ...known }
}

/** A usage of so many tokens, beside what else is known. */
export function usageWith(known: Partial<Usage>, inputTokens: number, outputTokens: number): Usage {
  const tokens = usageOfTokens(inputTokens, outputTokens)
  for (const _ in known) return { ...tokens, ...known, inputTokens, outputTokens }
  return tokens
}

/** A usage of nothing but tokens, as most calls have. */
export function usageOfTokens(inputTokens: number, outputTokens: number): Usage {
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: 0,
    cacheCreationInputTokens: 0,
    cacheCreation1hInputTokens: 0,
    reasoningTokens: 0,
    audioInputTokens: 0,
    audioOutputTokens: 0,
    imageInputTokens: 0,
    images: 0,
    imageSize: '',
    audioSeconds: 0,
    characters: 0,
    rerankUnits: 0,
    cachedAudioInputTokens: undefined,
    terms: undefined,
    toolUses: undefined,
    reportedNano: undefined,
    estimated: false,
  }
}

/** Estimates one token for four characters. */
export function tokensOfCharacters(characters: number): number {
  return Math.max(1, Math.floor(characters / 4))
}

export function estimatedUsage(inputBytes: number, outputCharacters: number): Usage {
  return usageOf({
    inputTokens: tokensOfCharacters(inputBytes),
    outputTokens: outputCharacters === 0 ? 0 : tokensOfCharacters(outputCharacters),
    estimated: true,
  })
}
