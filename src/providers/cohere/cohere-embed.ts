import { GatewayError } from '../../lib/errors.ts'
import { asRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { EmbeddingRequest } from '../../modes/embedding.ts'
import type { Adapter } from '../provider.ts'
import { embeddingList, textsOf } from '../wire/embedding-list.ts'
import { refuseUnsupportedFields } from '../wire/unsupported-fields.ts'
import { cohereFailure } from './cohere-failure.ts'
import { cohereUsage } from './cohere-usage.ts'

const API = "Cohere's embed API"
const SUPPORTED = new Set(['model', 'input', 'encoding_format', 'dimensions', 'input_type', 'truncate', 'priority'])

/** Embeddings of texts. Their type is `search_document` unless `input_type` is set. */
export const cohereEmbed: Adapter<EmbeddingRequest> = {
  request({ body }, connection) {
    refuseUnsupportedFields(body, SUPPORTED, API)
    const { dimensions, input_type, truncate, priority } = body
    const upstream = {
      model: connection.model,
      texts: textsOf(body, API),
      input_type: input_type ?? 'search_document',
      embedding_types: [body.encoding_format ?? 'float'],
      ...(dimensions == null ? {} : { output_dimension: dimensions }),
      ...(truncate == null ? {} : { truncate }),
      ...(priority == null ? {} : { priority }),
    }
    return {
      method: 'POST',
      origin: connection.origin,
      path: `${connection.basePath}/v2/embed`,
      headers: connection.headers,
      body: JSON.stringify(upstream),
    }
  },
  reply(bytes, _headers, { body: request }) {
    const body = parseRecord(bytes)
    const vectors = asRecord(body?.embeddings)[request.encoding_format ?? 'float']
    if (!Array.isArray(vectors)) {
      throw new GatewayError('upstream_malformed', "The provider's answer has no embeddings.")
    }
    return embeddingList(vectors, request, cohereUsage(body?.meta))
  },
  failure: cohereFailure,
}
