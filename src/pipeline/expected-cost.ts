import type { ModelInfo } from '../config/model-list.ts'
import type { Account } from '../limits/accounts.ts'
import { costNano } from '../modes/cost.ts'
import type { ModelRequest } from '../modes/mode.ts'
import { usageOf } from '../modes/usage.ts'
import type { Deployment } from '../routing/deployment.ts'
import { type CallInput, requestBytes } from './call.ts'
import type { PipelineServices } from './pipeline.ts'

/** What a call will cost, before it has run. */
export interface ExpectedCost {
  /** What is held for it: the most that it may cost, as far as can be told. */
  readonly holdNano: number
  /** What it probably costs. */
  readonly likelyNano: number
}

const NOTHING: ExpectedCost = { holdNano: 0, likelyNano: 0 }

/** The longest answer that is held for in full. Who allows more seldom means it, and a hold for all of it would pin
 *  budgets; then it goes by what answers of the deployment have been like. */
const LONG_ANSWER_TOKENS = 4096

/** The cost at the dearest of the deployments that may serve, for the accounts that are charged. Where no price is known,
 *  nothing. */
export function expectedCost(
  services: PipelineServices,
  input: Pick<CallInput, 'endpoint' | 'bytes' | 'form'>,
  request: ModelRequest,
  deployments: readonly Deployment[],
  accounts: readonly Account[],
): ExpectedCost {
  let [holdNano, likelyNano] = [0, 0]
  // Nobody asks what it costs.
  if (accounts.every(({ limitNano }) => limitNano === undefined)) return NOTHING
  const { mode } = input.endpoint
  const measured = mode.measure(request)
  const answers = answersOf(request)
  const bound = boundOf(input.endpoint, request)
  const bounded = bound !== undefined && bound <= LONG_ANSWER_TOKENS
  const inputBytes = requestBytes(input)
  const cost = (info: ModelInfo, input: number, output: number) => {
    const inputTokens = Math.ceil(input)
    const both = { inputTokens, outputTokens: Math.ceil(output * answers), ...measured }
    // What only reads has no price of output, and writes nothing.
    return costNano(mode, info, usageOf(both)) ?? costNano(mode, info, usageOf({ inputTokens, ...measured })) ?? 0
  }
  const file = mode.ofFile?.(inputBytes)
  for (const { id, info } of deployments) {
    if (file) {
      holdNano = Math.max(holdNano, costNano(mode, info, usageOf(file.most)) ?? 0)
      likelyNano = Math.max(likelyNano, costNano(mode, info, usageOf(file.likely)) ?? 0)
      continue
    }
    const usual = services.usual.of(id)
    // No tokenizer makes more than one token of a byte.
    const mostInput = usual ? (inputBytes / 4) * Math.max(1, usual.highInputRatio) : inputBytes
    const likelyInput = (inputBytes / 4) * (usual?.inputRatio ?? 1)
    const mostOutput = bounded ? bound : Math.min(bound ?? Infinity, usual?.highOutputTokens ?? LONG_ANSWER_TOKENS)
    const likelyOutput = bounded ? bound : Math.min(bound ?? Infinity, usual?.outputTokens ?? 0)
    holdNano = Math.max(holdNano, cost(info, mostInput, mostOutput))
    likelyNano = Math.max(likelyNano, cost(info, likelyInput, likelyOutput))
  }
  return { holdNano, likelyNano: Math.min(likelyNano, holdNano) }
}

const BOUNDS = ['max_completion_tokens', 'max_tokens'] as const

/** How many tokens an answer may have, where the request says so in the words of its own dialect: those of others bind
 *  nobody. Of two limits the larger, since vendors differ in which of them they heed. */
function boundOf({ dialect }: CallInput['endpoint'], request: ModelRequest): number | undefined {
  const words = dialect?.defaults
  let bound: number | undefined
  for (const field of BOUNDS) {
    const word = words ? words[field] : field
    const value = typeof word === 'string' ? request[word] : undefined
    if (typeof value === 'number' && value >= 0 && (bound === undefined || value > bound)) bound = value
  }
  return bound
}

/** No vendor gives more answers to one request; numbers of JSON have no end. */
const MOST_ANSWERS = 1024

function answersOf({ n }: ModelRequest): number {
  return typeof n === 'number' && n > 1 ? Math.min(n, MOST_ANSWERS) : 1
}
