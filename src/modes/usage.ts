import type { Terms, ToolUses } from './price/surcharges.ts'

/** What a call consumed, as the provider says, or as we estimate where it says nothing. Cached, cache-creation and
 *  reasoning tokens are parts of input and output, not additions to them. */
export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedInputTokens: number
  readonly cacheCreationInputTokens: number
  /** The part of them that the provider keeps for an hour, where it has a price for that. */
  readonly cacheCreation1hInputTokens: number
  readonly reasoningTokens: number
  /** Parts of the input and of the output, where the provider counts them apart. */
  readonly audioInputTokens: number
  readonly audioOutputTokens: number
  readonly images: number
  /** `1024x1024`, or `hd/1024x1024` where a quality was asked for; '' where nobody said. */
  readonly imageSize: string
  readonly audioSeconds: number
  readonly characters: number
  readonly rerankUnits: number
  /** What made its tokens dearer or cheaper: `service_tier: priority`. */
  readonly terms?: Terms | undefined
  /** How often the provider ran tools of its own, where they are billed beside the tokens. */
  readonly toolUses?: ToolUses | undefined
  /** True when the provider gave no usage and characters were counted instead. */
  readonly estimated: boolean
}

const NOTHING: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheCreationInputTokens: 0,
  cacheCreation1hInputTokens: 0,
  reasoningTokens: 0,
  audioInputTokens: 0,
  audioOutputTokens: 0,
  images: 0,
  imageSize: '',
  audioSeconds: 0,
  characters: 0,
  rerankUnits: 0,
  estimated: false,
}

/** A usage of which only some kinds are not zero. */
export function usageOf(known: Partial<Usage>): Usage {
  return { ...NOTHING, ...known }
}

/** One token for four characters: what the specification estimates by. */
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
