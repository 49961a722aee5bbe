import { asList, asRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { EmbeddingRequest } from '../../modes/embedding.ts'
import { type Usage, usageOf } from '../../modes/usage.ts'
import { checked, EMBEDDING_FIELDS } from '../gemini/batch-embed.ts'
import { geminiUsage } from '../gemini/gemini-usage.ts'
import { methodPath } from '../gemini/generate-content.ts'
import { googleFailure, googleFailureIn } from '../gemini/google-failure.ts'
import { count } from '../openai/usage.ts'
import type { Adapter } from '../provider.ts'
import { embeddingList, textsOf } from '../wire/embedding-list.ts'
import { refuseUnsupportedFields, unsupported } from '../wire/unsupported-fields.ts'

const PREDICT = "Vertex's predict"
const EMBED_CONTENT = "Vertex's embedContent"

/** Models since the second generation have a method that embeds one text in a call. */
const SECOND_GENERATION = /^gemini-embedding-(?!001)/

/** Embeddings on Vertex. A text that is too long is an error, not truncated. */
export const predictEmbeddings: Adapter<EmbeddingRequest> = {
  knows: EMBEDDING_FIELDS,
  request({ body }, connection) {
    const single = SECOND_GENERATION.test(connection.baseModel)
    const written = single ? embedContent(body) : predict(body)
    return {
      method: 'POST',
      origin: connection.origin,
      path: methodPath(connection, single ? 'embedContent' : 'predict'),
      headers: connection.headers,
      body: JSON.stringify(written),
    }
  },
  reply(bytes, _headers, { body }) {
    const answer = parseRecord(bytes)
    const failure = googleFailureIn(answer)
    if (failure) throw failure
    if (answer?.embedding) {
      return embeddingList(checked([asRecord(answer.embedding).values]), body, geminiUsage(answer.usageMetadata))
    }
    const embeddings = asList(answer?.predictions).map((prediction) => asRecord(asRecord(prediction).embeddings))
    return embeddingList(checked(embeddings.map(({ values }) => values)), body, usageIn(embeddings))
  },
  failure: googleFailure,
}

function predict(body: EmbeddingRequest) {
  refuseUnsupportedFields(body, EMBEDDING_FIELDS, PREDICT)
  const { dimensions, task_type, title } = body
  return {
    instances: textsOf(body, PREDICT).map((content) => ({
      content,
      ...(task_type ? { task_type } : {}),
      ...(title ? { title } : {}),
    })),
    parameters: { autoTruncate: false, ...(dimensions ? { outputDimensionality: dimensions } : {}) },
  }
}

function embedContent(body: EmbeddingRequest) {
  refuseUnsupportedFields(body, EMBEDDING_FIELDS, EMBED_CONTENT)
  const { dimensions, task_type: taskType, title } = body
  const [text, ...others] = textsOf(body, EMBED_CONTENT)
  if (others.length > 0) throw unsupported('input', EMBED_CONTENT, 'It embeds one text in a call: send one.')
  return {
    content: { parts: [{ text }] },
    autoTruncate: false,
    ...(dimensions ? { outputDimensionality: dimensions } : {}),
    ...(taskType ? { taskType } : {}),
    ...(title ? { title } : {}),
  }
}

function usageIn(embeddings: readonly Readonly<Record<string, unknown>>[]): Usage | undefined {
  const inputTokens = embeddings.reduce((sum, { statistics }) => sum + count(asRecord(statistics).token_count), 0)
  return inputTokens === 0 ? undefined : usageOf({ inputTokens })
}
