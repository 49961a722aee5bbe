import type { Usage } from '../modes/usage.ts'

/** What two attempts at one answer have used together. */
export function addUsage(one: Usage, other: Usage): Usage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    cacheCreationInputTokens: one.cacheCreationInputTokens + other.cacheCreationInputTokens,
    cacheCreation1hInputTokens: one.cacheCreation1hInputTokens + other.cacheCreation1hInputTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
    images: one.images + other.images,
    imageSize: one.imageSize || other.imageSize,
    audioSeconds: one.audioSeconds + other.audioSeconds,
    characters: one.characters + other.characters,
    rerankUnits: one.rerankUnits + other.rerankUnits,
    estimated: one.estimated || other.estimated,
  }
}
