import { GatewayError } from '../../lib/errors.ts'
import { asList, asRecord, type JsonRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { EmbeddingRequest } from '../../modes/embedding.ts'
import type { RerankRequest } from '../../modes/rerank.ts'
import { openaiFailure } from '../openai/failure.ts'
import { type Adapter, adapterFor, type Connection, type Provider } from '../provider.ts'
import { bearerConnection } from '../wire/connection/bearer-connection.ts'
import { embeddingList, textsOf } from '../wire/embedding-list.ts'
import { documentTexts, rerankList } from '../wire/rerank-list.ts'
import { totalTokens } from '../wire/total-tokens.ts'
import { refuseUnsupportedFields } from '../wire/unsupported-fields.ts'

const API_BASE = 'https://api.voyageai.com/v1'
const EMBEDDING_API = "Voyage's embeddings API"
const EMBEDDING_FIELDS = new Set([
  'model',
  'input',
  'dimensions',
  'output_dimension',
  'encoding_format',
  'input_type',
  'truncation',
  'output_dtype',
])
const RERANK_FIELDS = new Set(['model', 'query', 'documents', 'top_n', 'top_k', 'return_documents', 'truncation'])

function post(path: string, connection: Connection, body: JsonRecord) {
  const written = Object.fromEntries(Object.entries(body).filter(([, value]) => value != null))
  return {
    method: 'POST' as const,
    origin: connection.origin,
    path: `${connection.basePath}${path}`,
    headers: connection.headers,
    body: JSON.stringify({ ...written, model: connection.model }),
  }
}

const embeddings: Adapter<EmbeddingRequest> = {
  request({ body }, connection) {
    refuseUnsupportedFields(body, EMBEDDING_FIELDS, EMBEDDING_API)
    const { dimensions, output_dimension, encoding_format, input_type, truncation, output_dtype } = body
    return post('/embeddings', connection, {
      input: textsOf(body, EMBEDDING_API),
      input_type,
      truncation,
      output_dtype,
      output_dimension: dimensions ?? output_dimension,
      // Numbers are the default format, which has no name.
      encoding_format: encoding_format === 'base64' ? encoding_format : undefined,
    })
  },
  reply(bytes, _headers, { body: request }) {
    const body = parseRecord(bytes)
    if (!Array.isArray(body?.data)) {
      throw new GatewayError('upstream_malformed', "The provider's answer has no embeddings.")
    }
    const vectors = body.data.map((one) => asRecord(one).embedding)
    return embeddingList(vectors, request, totalTokens(body.usage), body.model)
  },
  failure: openaiFailure,
}

/** Reranking, answered in the public shape and, for its own clients, in Voyage's. */
const rerank: Adapter<RerankRequest> = {
  request({ body }, connection) {
    refuseUnsupportedFields(body, RERANK_FIELDS, "Voyage's rerank API")
    const { query, top_n, top_k, truncation } = body
    return post('/rerank', connection, { query, documents: documentTexts(body), top_k: top_n ?? top_k, truncation })
  },
  reply(bytes, _headers, { body: request }) {
    const body = parseRecord(bytes) ?? {}
    const texts = request.return_documents === true ? documentTexts(request) : []
    const data = asList(body.data).map((one) => {
      const { index, ...more } = asRecord(one)
      const document = texts[Number(index)]
      return { ...more, index, ...(document === undefined ? {} : { document }) }
    })
    return rerankList(body.data, request, { ...body, data }, totalTokens(body.usage))
  },
  failure: openaiFailure,
}

/** Voyage: embeddings and reranking. */
export const voyage: Provider = {
  kind: 'voyage',
  profile: { label: 'Voyage AI', address: API_BASE, credentials: [['api_key']] },
  listings: () => 'Voyage has no list of its models to ask for: type the name of one.',
  connect: (parameters, defaults) => bearerConnection('voyage', API_BASE, parameters, defaults),
  adapters: { embedding: adapterFor(embeddings), rerank: adapterFor(rerank) },
}
