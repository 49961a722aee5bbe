import { asList, asRecord, asText, entryOf, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { FinishReason, WireUsage } from '../../../modes/chat-completion.ts'

const REASONS: Readonly<Record<string, string>> = {
  length: 'MAX_TOKENS',
  content_filter: 'SAFETY',
}

/** Why a candidate ended. Calls of functions end it like any other content. */
export function finishReason(finish: FinishReason | null | undefined): string {
  return entryOf(REASONS, finish) ?? 'STOP'
}

/** Usage as this dialect counts: reasoning is not among the candidates' tokens, cached tokens are among the prompt's. */
export function usageMetadata(usage: WireUsage | null | undefined): JsonRecord {
  const prompt = usage?.prompt_tokens ?? 0
  const completion = usage?.completion_tokens ?? 0
  const thoughts = usage?.completion_tokens_details?.reasoning_tokens ?? 0
  const cached = usage?.prompt_tokens_details?.cached_tokens ?? 0
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: Math.max(0, completion - thoughts),
    totalTokenCount: usage?.total_tokens ?? prompt + completion,
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    ...(cached > 0 ? { cachedContentTokenCount: cached } : {}),
  }
}

const DATA_ADDRESS = /^data:([^;,]+)(?:;[^;,]+)*;base64,/i

/** Pictures that a model has made, as parts. */
export function pictureParts(message: unknown): JsonRecord[] {
  return asList(asRecord(message).images).flatMap((image): JsonRecord[] => {
    const url = asText(asRecord(asRecord(image).image_url).url)
    const inside = DATA_ADDRESS.exec(url)
    if (inside) return [{ inlineData: { mimeType: inside[1], data: url.slice(inside[0].length) } }]
    return url === '' ? [] : [{ fileData: { mimeType: 'image/png', fileUri: url } }]
  })
}

/** The log probabilities of a choice. */
export function logprobsResult(logprobs: unknown): { readonly logprobsResult?: JsonRecord } {
  const tokens = asList(asRecord(logprobs).content).map(asRecord)
  if (tokens.length === 0) return {}
  return {
    logprobsResult: {
      chosenCandidates: tokens.map(candidateOf),
      topCandidates: tokens.map(({ top_logprobs }) => ({
        candidates: asList(top_logprobs).map(asRecord).map(candidateOf),
      })),
    },
  }
}

const candidateOf = ({ token, logprob }: JsonRecord): JsonRecord => ({ token, logProbability: logprob })
