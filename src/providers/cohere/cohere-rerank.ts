import { parseRecord } from '../../lib/json/lenient.ts'
import type { RerankRequest } from '../../modes/rerank.ts'
import type { Adapter } from '../provider.ts'
import { documentTexts, rerankList } from '../wire/rerank-list.ts'
import { refuseUnsupportedFields } from '../wire/unsupported-fields.ts'
import { cohereFailure } from './cohere-failure.ts'
import { cohereUsage } from './cohere-usage.ts'

const SUPPORTED = new Set([
  'model',
  'query',
  'documents',
  'top_n',
  'return_documents',
  'max_tokens_per_doc',
  'priority',
])

/** Reranking, billed in search units. Version 2 accepts texts only and returns no documents, so they are added here. */
export const cohereRerank: Adapter<RerankRequest> = {
  request({ body }, connection) {
    refuseUnsupportedFields(body, SUPPORTED, "Cohere's rerank API")
    const { query, top_n, max_tokens_per_doc, priority } = body
    const upstream = {
      model: connection.model,
      query,
      documents: documentTexts(body),
      ...(top_n == null ? {} : { top_n }),
      ...(max_tokens_per_doc == null ? {} : { max_tokens_per_doc }),
      ...(priority == null ? {} : { priority }),
    }
    return {
      method: 'POST',
      origin: connection.origin,
      path: `${connection.basePath}/v2/rerank`,
      headers: connection.headers,
      body: JSON.stringify(upstream),
    }
  },
  reply(bytes, _headers, { body: request }) {
    const { results, ...more } = parseRecord(bytes) ?? {}
    return rerankList(results, request, more, cohereUsage(more.meta))
  },
  failure: cohereFailure,
}
