import { GatewayError } from '../../lib/errors.ts'
import { asList, asRecord, isRecord, type JsonRecord, parseRecord } from '../../lib/json/lenient.ts'
import { type Usage, usageOf } from '../../modes/usage.ts'
import type { CachedAnswer } from './cache-use.ts'

/** What an answer to embedding inputs cost and used, and who made it. */
type Facts = Pick<CachedAnswer, 'usage' | 'costNano' | 'deployment' | 'provider' | 'askedAt'>

const encoder = new TextEncoder()
const JSON_TYPE = 'application/json'

/** The answer that an embedding endpoint gave, as far as it is read here. */
interface Embedded {
  /** The answer without its vectors and its usage. */
  readonly rest: JsonRecord
  /** Each as the provider wrote it, without its index. */
  readonly vectors: readonly JsonRecord[]
}

/** undefined if it has not one vector for each of `count` inputs. */
function readEmbedded(answer: Uint8Array | string, count: number): Embedded | undefined {
  const { data, usage: _usage, ...rest } = parseRecord(answer) ?? {}
  if (!Array.isArray(data) || data.length !== count) return undefined
  const vectors: JsonRecord[] = []
  for (const [at, one] of data.entries()) {
    if (!isRecord(one)) return undefined
    const { index = at, ...vector } = one
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count || vectors[index])
      return undefined
    vectors[index] = vector
  }
  return { rest, vectors }
}

/** The answers to each input, for the cache; undefined if the whole is not one for each. Usage and cost are shared out
 *  by the length of the inputs, so that together they are those of the whole. */
export function eachInput(
  answer: string,
  inputs: readonly string[],
  { usage, costNano, ...facts }: Facts,
): readonly CachedAnswer[] | undefined {
  const embedded = readEmbedded(answer, inputs.length)
  if (!embedded) return undefined
  const lengths = inputs.map((input) => input.length + 1)
  const tokens = shares(usage?.inputTokens ?? 0, lengths)
  const costs = shares(costNano, lengths)
  return embedded.vectors.map((vector, at) => ({
    ...facts,
    contentType: JSON_TYPE,
    body: JSON.stringify({ ...embedded.rest, data: [vector] }),
    usage: usage && usageOf({ ...usage, inputTokens: tokens[at] as number }),
    costNano: costs[at] as number,
  }))
}

/** An integer in parts of these proportions, of which the sum is exact. */
function shares(whole: number, proportions: readonly number[]): number[] {
  const all = proportions.reduce((sum, one) => sum + one, 0)
  let passed = 0
  let given = 0
  return proportions.map((one) => {
    passed += one
    const share = Math.round((whole * passed) / all) - given
    given += share
    return share
  })
}

/** The answer to all inputs, in their order: of stored answers, and of the one to the others, if any was asked for.
 *  Throws if that does not have one vector for each. */
export function putTogether(known: readonly (CachedAnswer | undefined)[], asked: Uint8Array | undefined): Uint8Array {
  const missing = known.filter((one) => one === undefined).length
  const fresh = asked && readEmbedded(asked, missing)
  if (missing > 0 && !fresh) {
    throw new GatewayError('upstream_malformed', 'The provider did not answer with one vector for each input.')
  }
  let next = 0
  const data = known.map((one, index) => {
    const vector = one ? asList(parseRecord(one.body)?.data)[0] : fresh?.vectors[next++]
    return { ...asRecord(vector), index }
  })
  const usage = asked ? parseRecord(asked)?.usage : known.some((one) => one?.usage) ? tokensOf(sumOf(known)) : undefined
  const rest = fresh?.rest ?? withoutData(parseRecord(known[0]?.body ?? ''))
  return encoder.encode(JSON.stringify({ ...rest, data, ...(usage === undefined ? {} : { usage }) }))
}

function withoutData(answer: JsonRecord | undefined): JsonRecord {
  const { data: _data, ...rest } = answer ?? {}
  return rest
}

const tokensOf = ({ inputTokens }: Usage) => ({ prompt_tokens: inputTokens, total_tokens: inputTokens })

function sumOf(known: readonly (CachedAnswer | undefined)[]): Usage {
  const inputTokens = known.reduce((sum, one) => sum + (one?.usage?.inputTokens ?? 0), 0)
  return usageOf({ ...known[0]?.usage, inputTokens })
}

/** The stored answers to every input as one. */
export function ofAllInputs(known: readonly CachedAnswer[]): CachedAnswer {
  const [first] = known as readonly [CachedAnswer]
  return {
    ...first,
    askedAt: Math.min(...known.map(({ askedAt }) => askedAt)),
    body: new TextDecoder().decode(putTogether(known, undefined)),
    usage: sumOf(known),
    costNano: known.reduce((sum, { costNano }) => sum + costNano, 0),
  }
}
