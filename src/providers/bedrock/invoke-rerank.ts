import { parseRecord } from '../../lib/json/lenient.ts'
import type { RerankRequest } from '../../modes/rerank.ts'
import { cohereUsage } from '../cohere/cohere-usage.ts'
import type { Adapter } from '../provider.ts'
import { documentTexts, rerankList } from '../wire/rerank-list.ts'
import { refuseUnsupportedFields } from '../wire/unsupported-fields.ts'
import { bedrockFailure, embeddedFailure } from './bedrock-failure.ts'
import { invokePath } from './invoke-path.ts'

const API = "Bedrock's rerank models"
const FIELDS: ReadonlySet<string> = new Set(['model', 'query', 'documents', 'top_n', 'return_documents', 'metadata'])

/** Cohere's models are asked in the second version of its API. */
const VERSIONED = /cohere\./
const VERSION = 2

/** Reranking with models of Cohere and Amazon. */
export const invokeRerank: Adapter<RerankRequest> = {
  request({ body }, connection) {
    refuseUnsupportedFields(body, FIELDS, API)
    const { query, top_n } = body
    return {
      method: 'POST',
      origin: connection.origin,
      path: invokePath(connection),
      headers: connection.headers,
      body: JSON.stringify({
        query,
        documents: documentTexts(body),
        ...(top_n == null ? {} : { top_n }),
        ...(VERSIONED.test(connection.baseModel) ? { api_version: VERSION } : {}),
      }),
    }
  },
  reply(bytes, _headers, { body: request }) {
    const body = parseRecord(bytes) ?? {}
    const failure = body.results === undefined ? embeddedFailure(body) : undefined
    if (failure) throw failure
    const { results, ...more } = body
    return rerankList(results, request, more, cohereUsage(more.meta))
  },
  failure: bedrockFailure,
}
