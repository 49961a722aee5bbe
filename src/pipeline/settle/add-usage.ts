import type { Usage } from '../../modes/usage.ts'

/** The combined usage of two attempts at one answer, with its members in the order of `usageOf`. */
export function addUsage(one: Usage, other: Usage): Usage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    cacheCreationInputTokens: one.cacheCreationInputTokens + other.cacheCreationInputTokens,
    cacheCreation1hInputTokens: one.cacheCreation1hInputTokens + other.cacheCreation1hInputTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
    audioInputTokens: one.audioInputTokens + other.audioInputTokens,
    audioOutputTokens: one.audioOutputTokens + other.audioOutputTokens,
    imageInputTokens: one.imageInputTokens + other.imageInputTokens,
    images: one.images + other.images,
    imageSize: one.imageSize || other.imageSize,
    audioSeconds: one.audioSeconds + other.audioSeconds,
    characters: one.characters + other.characters,
    rerankUnits: one.rerankUnits + other.rerankUnits,
    ...cachedAudio(one, other),
    ...(one.terms || other.terms ? { terms: { ...one.terms, ...other.terms } } : {}),
    ...(one.toolUses || other.toolUses ? { toolUses: sums(one.toolUses, other.toolUses) } : {}),
    ...reportedSum(one, other),
    estimated: one.estimated || other.estimated,
  }
}

function cachedAudio({ cachedAudioInputTokens: one = 0 }: Usage, { cachedAudioInputTokens: other = 0 }: Usage) {
  return one + other === 0 ? {} : { cachedAudioInputTokens: one + other }
}

/** What both cost is known only if each has been reported. */
function reportedSum({ reportedNano: one }: Usage, { reportedNano: other }: Usage): Pick<Usage, 'reportedNano'> {
  return one === undefined || other === undefined ? {} : { reportedNano: one + other }
}

function sums(one: Usage['toolUses'], other: Usage['toolUses']): NonNullable<Usage['toolUses']> {
  const all: Record<string, number> = { ...one }
  for (const name in other) all[name] = (all[name] ?? 0) + (other[name] ?? 0)
  return all
}
