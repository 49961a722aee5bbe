import { GatewayError } from '../../../lib/errors.ts'
import { camelCase } from '../../../lib/json/camel-case.ts'
import { asList, asRecord, asText, isRecord, type JsonRecord, parseRecord } from '../../../lib/json/lenient.ts'
import { inexpressible } from '../inexpressible.ts'

const encoder = new TextEncoder()

/** What one text is embedded for; the same for all texts of a request. */
const COMMON = { taskType: 'task_type', title: 'title', outputDimensionality: 'dimensions' } as const

/** The hints of a request that other vendors do not know. */
export const EMBEDDING_HINTS = ['task_type', 'title'] as const

/** The changes that make a body of embedContent a request for embeddings. */
export function oneEmbedding(body: JsonRecord, model: string): JsonRecord {
  return changesOf(body, model, [body], [''])
}

/** The same of a body of batchEmbedContents. */
export function manyEmbeddings(body: JsonRecord, model: string): JsonRecord {
  const requests = asList(body.requests).map(asRecord)
  if (requests.length === 0) throw invalid('requests', "'requests' must hold at least one request.")
  const places = requests.map((_, index) => `requests.${index}.`)
  for (const [index, { model: named }] of requests.entries()) {
    if (named === undefined || asText(named).replace(/^models\//, '') === model) continue
    const param = `requests.${index}.model`
    throw invalid(param, `'${param}' names another model than the path.`)
  }
  return changesOf(body, model, requests, places)
}

function changesOf(
  body: JsonRecord,
  model: string,
  given: readonly JsonRecord[],
  places: readonly string[],
): JsonRecord {
  const requests = given.map(camelCase)
  const [first = {}] = requests
  const input = requests.map((request, index) => textOf(request, places[index] as string))
  const changes: Record<string, unknown> = {}
  for (const name of Object.keys(body)) if (name !== 'metadata') changes[name] = undefined
  for (const [name, field] of Object.entries(COMMON)) {
    const other = requests.findIndex((request) => request[name] !== first[name])
    if (other !== -1) {
      const param = `${places[other]}${name}`
      throw inexpressible(param, `'${param}' differs from that of the first request: send such requests separately.`)
    }
    if (first[name] !== undefined && first[name] !== null) changes[field] = first[name]
  }
  return { ...changes, model, input }
}

function textOf({ content }: JsonRecord, at: string): string {
  const parts = typeof content === 'string' ? [{ text: content }] : asList(asRecord(content).parts)
  if (parts.length === 0) throw invalid(`${at}content`, `'${at}content' must hold a text.`)
  return parts
    .map((value, index) => {
      const { text } = asRecord(value)
      if (typeof text === 'string') return text
      const param = `${at}content.parts.${index}`
      throw inexpressible(param, `'${param}': only texts can be embedded here.`)
    })
    .join('')
}

/** A list of embeddings as the answer of embedContent. */
export function asEmbedContent(answer: Uint8Array): Uint8Array {
  const { vectors, usageMetadata } = read(answer)
  return encoder.encode(JSON.stringify({ embedding: vectors[0], usageMetadata }))
}

/** A list of embeddings as the answer of batchEmbedContents. */
export function asBatchEmbedContents(answer: Uint8Array): Uint8Array {
  const { vectors, usageMetadata } = read(answer)
  return encoder.encode(JSON.stringify({ embeddings: vectors, usageMetadata }))
}

function read(answer: Uint8Array) {
  const { data, usage } = parseRecord(answer) ?? {}
  const items = asList(data).map(asRecord)
  const ordered = items.every(({ index }) => typeof index === 'number')
    ? [...items].sort((one, other) => Number(one.index) - Number(other.index))
    : items
  const { prompt_tokens, total_tokens } = asRecord(usage)
  return {
    vectors: ordered.map(({ embedding }) => ({ values: embedding })),
    usageMetadata: isRecord(usage) ? { promptTokenCount: prompt_tokens ?? total_tokens } : undefined,
  }
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param })
}
