import { asList, asRecord, asText, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'

const encoder = new TextEncoder()

/** The log probabilities of a candidate's tokens in the public shape; undefined if it has none. */
export function logprobsOf({ logprobsResult }: JsonRecord): JsonRecord | undefined {
  if (!isRecord(logprobsResult)) return undefined
  const top = asList(logprobsResult.topCandidates)
  const content = asList(logprobsResult.chosenCandidates).map((chosen, index) => ({
    ...tokenOf(chosen),
    top_logprobs: asList(asRecord(top[index]).candidates).map(tokenOf),
  }))
  return { content, refusal: null }
}

function tokenOf(value: unknown) {
  const { token, logProbability } = asRecord(value)
  const text = asText(token)
  return { token: text, logprob: Number(logProbability ?? 0), bytes: [...encoder.encode(text)] }
}
