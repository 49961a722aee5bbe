import { tokensOfCharacters, type Usage } from '../modes/usage.ts'
import { expiringMap } from '../stores/kv/in-process/expiring-map.ts'

/** What calls of a deployment have used of late, as this process saw it. */
export interface Usual {
  /** Input tokens for each one that the body's length suggests: on average, and in large calls. */
  readonly inputRatio: number
  readonly highInputRatio: number
  readonly outputTokens: number
  readonly highOutputTokens: number
}

/** Remembers what calls use, so that a budget holds neither far too much nor too little for the next one. */
export interface UsualUsage {
  of(deployment: string): Usual | undefined
  learn(deployment: string, bodyBytes: number, usage: Usage): void
}

/** Learnt in place: by every call. */
type Learnt = { -readonly [Name in keyof Usual]: Usual[Name] }

const DEPLOYMENTS = 10_000
const FORGET_MS = 3_600_000
/** The share of the newest sample. */
const WEIGHT = 0.1
/** How fast a high mark comes down. */
const DECAY = 0.02

export function usualUsage(now: () => number): UsualUsage {
  const known = expiringMap<Learnt>(now, DEPLOYMENTS)
  return {
    of: known.get,
    learn(deployment, bodyBytes, { inputTokens, outputTokens, estimated }) {
      if (estimated) return
      const inputRatio = inputTokens / tokensOfCharacters(bodyBytes)
      let usual = known.get(deployment)
      if (usual) {
        usual.inputRatio = mean(usual.inputRatio, inputRatio)
        usual.highInputRatio = high(usual.highInputRatio, inputRatio)
        usual.outputTokens = mean(usual.outputTokens, outputTokens)
        usual.highOutputTokens = high(usual.highOutputTokens, outputTokens)
      } else {
        usual = { inputRatio, highInputRatio: inputRatio, outputTokens, highOutputTokens: outputTokens }
      }
      known.set(deployment, usual, now() + FORGET_MS)
    },
  }
}

const mean = (old: number, sample: number) => old + WEIGHT * (sample - old)
const high = (old: number, sample: number) => Math.max(sample, old + DECAY * (sample - old))
