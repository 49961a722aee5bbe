import { GatewayError } from '../../lib/errors.ts'
import { asList, asRecord, asText, parseRecord } from '../../lib/json/lenient.ts'
import type { EmbeddingRequest } from '../../modes/embedding.ts'
import { tokensOfCharacters, type Usage, usageOf } from '../../modes/usage.ts'
import type { Adapter } from '../provider.ts'
import { embeddingList, textsOf } from '../wire/embedding-list.ts'
import { refuseUnsupportedFields } from '../wire/unsupported-fields.ts'
import { geminiUsage } from './gemini-usage.ts'
import { methodPath } from './generate-content.ts'
import { googleFailure, googleFailureIn } from './google-failure.ts'

const API = "Gemini's batchEmbedContents"

export const EMBEDDING_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'input',
  'encoding_format',
  'dimensions',
  'task_type',
  'title',
])

/** Embeddings of a Gemini model, one request for each text in one call. */
export const batchEmbed: Adapter<EmbeddingRequest> = {
  knows: EMBEDDING_FIELDS,
  request({ body }, connection) {
    refuseUnsupportedFields(body, EMBEDDING_FIELDS, API)
    const { dimensions, task_type: taskType, title } = body
    const requests = textsOf(body, API).map((text) => ({
      model: connection.model.includes('/') ? connection.model : `models/${connection.model}`,
      content: { parts: [{ text }] },
      ...(dimensions ? { outputDimensionality: dimensions } : {}),
      ...(taskType ? { taskType } : {}),
      ...(title ? { title } : {}),
    }))
    return {
      method: 'POST',
      origin: connection.origin,
      path: methodPath(connection, 'batchEmbedContents'),
      headers: connection.headers,
      body: JSON.stringify({ requests }),
    }
  },
  reply(bytes, _headers, { body }) {
    const answer = parseRecord(bytes)
    const failure = googleFailureIn(answer)
    if (failure) throw failure
    const vectors = asList(answer?.embeddings).map((embedding) => asRecord(embedding).values)
    return embeddingList(checked(vectors), body, geminiUsage(answer?.usageMetadata) ?? estimated(body))
  },
  failure: googleFailure,
}

/** Checks that an answer has vectors. */
export function checked(vectors: readonly unknown[]): readonly unknown[] {
  if (vectors.length > 0 && vectors.every(Array.isArray)) return vectors
  throw new GatewayError('upstream_malformed', "The provider's answer holds no embeddings.")
}

/** The tokens estimated from the length of the texts, for answers without usage. */
function estimated({ input }: EmbeddingRequest): Usage {
  const characters = [input].flat().reduce<number>((sum, text) => sum + asText(text).length, 0)
  return usageOf({ inputTokens: tokensOfCharacters(characters), estimated: true })
}
