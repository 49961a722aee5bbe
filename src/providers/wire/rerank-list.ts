import { GatewayError } from '../../lib/errors.ts'
import { asRecord, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { RerankRequest } from '../../modes/rerank.ts'
import type { Usage } from '../../modes/usage.ts'
import type { Reply } from '../provider.ts'

const encoder = new TextEncoder()

/** The texts of the documents, for vendors that accept only texts. */
export function documentTexts({ documents }: RerankRequest): string[] {
  return documents.map((document) => (typeof document === 'string' ? document : document.text))
}

/** The public list of results, with the client's own documents if it asked for them. */
export function rerankList(
  results: unknown,
  { documents, return_documents }: RerankRequest,
  more: JsonRecord,
  usage: Usage | undefined,
): Reply {
  if (!Array.isArray(results)) throw new GatewayError('upstream_malformed', "The provider's answer has no results.")
  if (results.length === 0)
    throw new GatewayError('unusable_answer', "The provider's answer has an empty list of results.")
  const list = results.map(asRecord).map(({ index, relevance_score }) => ({
    index,
    relevance_score,
    ...(return_documents === true ? { document: asDocument(documents[Number(index)]) } : {}),
  }))
  const bytes = encoder.encode(JSON.stringify({ ...more, results: list }))
  return { bytes, contentType: 'application/json', usage, outputCharacters: 0 }
}

function asDocument(document: unknown): unknown {
  return isRecord(document) ? document : { text: document }
}
