import { tokensOfCharacters, type Usage } from '../../modes/usage.ts'
import { expiringMap } from '../../stores/kv/in-process/expiring-map.ts'

/** What calls of a deployment have used of late, as this process saw it. */
export interface Usual {
  /** Input tokens for each one that the body's length suggests: on average, and of one of the denser bodies. */
  readonly inputRatio: number
  readonly denseInput: number
  /** Tokens of an answer: on average, and of one of the longer ones. */
  readonly answer: number
  readonly longAnswer: number
}

/** Remembers what calls use: what the next one probably uses, never what it may. */
export interface UsualUsage {
  of(deployment: string): Usual | undefined
  learn(deployment: string, call: UsedCall): void
}

export interface UsedCall {
  readonly bodyBytes: number
  readonly usage: Usage
  readonly answers: number
  /** Its answer ended because it was not to be longer: others may be. */
  readonly limited: boolean
}

/** Learnt in place: by every call. */
type Learnt = { -readonly [Name in keyof Usual]: Usual[Name] }

const DEPLOYMENTS = 10_000
const FORGET_MS = 3_600_000
/** The share of the newest sample. */
const WEIGHT = 0.1
/** How fast a high mark comes down. */
const DECAY = 0.02
/** No tokenizer makes more than one token of a byte: what is beyond that was no text. */
const MOST_RATIO = 4

export function usualUsage(now: () => number): UsualUsage {
  const known = expiringMap<Learnt>(now, DEPLOYMENTS)
  return {
    of: known.get,
    learn(deployment, { bodyBytes, usage, answers, limited }) {
      const inputRatio = Math.min(MOST_RATIO, usage.inputTokens / tokensOfCharacters(bodyBytes))
      const answer = usage.outputTokens / answers
      let usual = known.get(deployment)
      if (usual) {
        usual.inputRatio = mean(usual.inputRatio, inputRatio)
        usual.denseInput = high(usual.denseInput, inputRatio)
        usual.answer = mean(usual.answer, answer)
        usual.longAnswer = limited ? Math.max(usual.longAnswer, answer) : high(usual.longAnswer, answer)
      } else {
        usual = { inputRatio, denseInput: inputRatio, answer, longAnswer: answer }
      }
      known.set(deployment, usual, now() + FORGET_MS)
    },
  }
}

const mean = (old: number, sample: number) => old + WEIGHT * (sample - old)
const high = (old: number, sample: number) => Math.max(sample, old + DECAY * (sample - old))
