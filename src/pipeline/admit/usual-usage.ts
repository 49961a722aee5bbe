import { tokensOfCharacters, type Usage } from '../../modes/usage.ts'
import { expiringMap } from '../../stores/kv/in-process/expiring-map.ts'

/** The recent usage of a deployment's calls, as seen by this process. */
interface Usual {
  /** Real input tokens per estimated one: the average, and a high mark for denser bodies. */
  readonly inputRatio: number
  readonly denseInput: number
  /** Tokens of an answer: the average, and a high mark for longer ones. */
  readonly answer: number
  readonly longAnswer: number
}

/** Learns typical usage: it predicts what the next call probably uses, never bounds it. */
export interface UsualUsage {
  of(deployment: string): Usual | undefined
  learn(deployment: string, call: UsedCall): void
}

interface UsedCall {
  readonly bodyBytes: number
  readonly usage: Usage
  readonly answers: number
  /** The answer was cut by its own limit, so others may be longer. */
  readonly limited: boolean
}

/** Mutable, because every call updates it in place. */
type Learnt = { -readonly [Name in keyof Usual]: Usual[Name] }

const DEPLOYMENTS = 10_000
const FORGET_MS = 3_600_000
/** The weight of the newest sample. */
const WEIGHT = 0.1
/** The rate at which a high mark decays. */
const DECAY = 0.02
/** No tokenizer makes more than one token of a byte: a higher ratio means that the body was not text. */
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
