import type { Mode, ModelRequest } from '../../modes/mode.ts'
import { costNano } from '../../modes/price/cost.ts'
import { asOftenAsItMay, asUsage } from '../../modes/price/surcharges-asked.ts'
import { tokensOfCharacters, type Usage, usageOf, usageWith } from '../../modes/usage.ts'
import type { Deployment } from '../../routing/deployment.ts'
import { type CallInput, requestBytes } from '../call-input.ts'
import type { PipelineServices } from '../services.ts'
import { defaultFields } from '../translate/default-fields.ts'
import { type InputBound, inputBound } from './input-bound.ts'
import { longestInput } from './longest-input.ts'
import { outputBound } from './output-bound.ts'

/** The expected cost of a call, before it has run. */
export interface ExpectedCost {
  /** The most that the call may cost, which is held for it. It depends on the call's own bounds alone, not on other
   *  calls. */
  readonly holdNano: number
  /** What the call probably costs. */
  readonly likelyNano: number
}

export const NO_COST: ExpectedCost = { holdNano: 0, likelyNano: 0 }

/** The input that a vendor may add for objects of unknown size, if the deployment states no limit. */
const ELSEWHERE_TOKENS = 32_768

/** No tokenizer makes more than one token of a byte, while the estimate counts four bytes as one token. */
const BYTES_A_TOKEN = 4

/** What no model reads of a short body: the name of the model and the names of members. */
const FRAME_BYTES = 64

/** What a density that was divided and multiplied again may be below a whole number. */
const ROUNDING = 1e-9

type Asked = Pick<CallInput, 'endpoint' | 'bytes' | 'form' | 'batch'>
export type Expecting = (deployments: readonly Deployment[]) => ExpectedCost

/** Computes the cost of a call at the dearest of some deployments; nothing if no price is known. `continuedTokens`: the
 *  tokens of an answer that has begun, which a continuation reads as input. */
export function expecting(
  services: PipelineServices,
  input: Asked,
  request: ModelRequest,
  continuedTokens = 0,
): Expecting {
  const { endpoint, form } = input
  if (endpoint.free) return () => NO_COST
  const { mode } = endpoint
  const bodyBytes = requestBytes(input)
  let read: InputBound | undefined

  function ofFile({ info }: Deployment, file: NonNullable<typeof mode.ofFile>): ExpectedCost {
    const limit = services.config.general_settings.max_upload_bytes
    const mostBytes = form?.raw.length ?? (form?.raw.ended ? bodyBytes : limit)
    return {
      holdNano: costNano(mode, info, usageOf(file(mostBytes).most), input) ?? 0,
      likelyNano: costNano(mode, info, usageOf(file(bodyBytes).likely), input) ?? 0,
    }
  }

  function at(deployment: Deployment): ExpectedCost {
    if (mode.ofFile) return ofFile(deployment, mode.ofFile)
    const { id, info, connection, provider } = deployment
    const usual = services.usual.of(id)
    read ??= inputBound(input, request)
    const most = read
    const elsewhere = most.pointsElsewhere ? (info.max_input_tokens ?? ELSEWHERE_TOKENS) : 0
    const asked = completed(request, connection.defaults)
    // A reranking reads the query with each document.
    const repeated = mode.unit === 'tokens' ? 0 : BYTES_A_TOKEN * (mode.unreported?.(asked).inputTokens ?? 0)
    const longest = longestInput(endpoint, asked, deployment)
    const mostInput = Math.max(repeated, Math.min(longest, most.tokens + elsewhere + continuedTokens))
    const likelyInput = Math.min(mostInput, likelyTokens(bodyBytes, usual?.denseInput))
    const output = outputBound(endpoint, request, deployment)
    const usualOutput = Math.ceil((usual?.longAnswer ?? 0) * output.answers)
    const likelyOutput = output.meant ? output.tokens : Math.min(output.tokens, usualOutput)
    const measured = mode.measure(asked)
    const likelyNano = costNano(mode, info, usageWith(measured, likelyInput, likelyOutput), input) ?? 0
    const whole = usageWith(measured, mostInput, output.tokens)
    let holdNano = likelyNano
    const unasked = provider.writesCache && info.cache_creation_input_cost_per_token !== undefined ? '5m' : undefined
    for (const kind of dearestKinds(mode, asked, most, most.cached ?? unasked)) {
      holdNano = Math.max(holdNano, costNano(mode, info, kind(whole), input) ?? 0)
    }
    return { holdNano, likelyNano }
  }

  return (deployments) => {
    let [holdNano, likelyNano] = [0, 0]
    for (const deployment of deployments) {
      const cost = at(deployment)
      holdNano = Math.max(holdNano, cost.holdNano)
      likelyNano = Math.max(likelyNano, cost.likelyNano)
    }
    return { holdNano, likelyNano }
  }
}

/** By the density of former calls, rounded down: one that is like the last is likely to cost the same, so that a budget
 *  for ten of them lets ten pass. Without former calls the frame of the body is left out, so that a budget for one short
 *  call has room for it. */
function likelyTokens(bodyBytes: number, density: number | undefined): number {
  if (density !== undefined) return Math.floor(tokensOfCharacters(bodyBytes) * density + ROUNDING)
  return Math.max(1, Math.ceil((bodyBytes - FRAME_BYTES) / BYTES_A_TOKEN))
}

type Kind = (whole: Usage) => Usage

/** The only kind of most calls. */
const PLAIN: readonly Kind[] = [(whole) => whole]

/** The kinds of billing that may apply to the call's tokens: any of them may be the dearest. */
function dearestKinds(
  mode: Mode,
  request: ModelRequest,
  { hasSound, hasImage }: InputBound,
  cached: InputBound['cached'],
): readonly Kind[] {
  const asked = mode.asks?.(request) ?? []
  const mayHear = hasSound || request.audio != null
  const maySee = hasImage || request.image != null
  if (asked.length === 0 && !mayHear && !maySee && !cached) return PLAIN
  const { terms, toolUses } = asUsage(asked, asOftenAsItMay)
  const kinds: Kind[] = [(whole) => ({ ...whole, toolUses, terms })]
  // A provider may not grant the cheaper terms that were requested.
  if (terms) kinds.push((whole) => ({ ...whole, toolUses, terms: undefined }))
  if (mayHear) {
    kinds.push((whole) => ({
      ...{ ...whole, toolUses, terms },
      audioInputTokens: whole.inputTokens,
      audioOutputTokens: whole.outputTokens,
    }))
  }
  if (maySee) {
    kinds.push((whole) => ({ ...{ ...whole, toolUses, terms }, imageInputTokens: whole.inputTokens }))
  }
  // Writing to a cache may cost more than reading input.
  if (cached) {
    kinds.push((whole) => ({
      ...{ ...whole, toolUses, terms },
      cacheCreationInputTokens: whole.inputTokens,
      cacheCreation1hInputTokens: cached === '1h' ? whole.inputTokens : 0,
    }))
  }
  return kinds
}

/** The request with the operator's defaults in fields that it leaves out. */
function completed(request: ModelRequest, defaults: Readonly<Record<string, unknown>>): ModelRequest {
  for (const _ in defaults) return Object.assign(Object.create(request), defaultFields(defaults, request))
  return request
}
