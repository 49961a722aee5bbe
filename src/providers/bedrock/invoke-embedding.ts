import { GatewayError } from '../../lib/errors.ts'
import { asRecord, entryOf, isRecord, type JsonRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { EmbeddingRequest } from '../../modes/embedding.ts'
import { type Usage, usageOf } from '../../modes/usage.ts'
import { count } from '../openai/usage.ts'
import type { Adapter } from '../provider.ts'
import { embeddingList, textsOf } from '../wire/embedding-list.ts'
import { refuseUnsupportedFields, unsupported } from '../wire/unsupported-fields.ts'
import { bedrockFailure, embeddedFailure } from './bedrock-failure.ts'
import { invokePath } from './invoke-path.ts'

const API = 'what this model of Bedrock takes'
const PUBLIC = ['model', 'input', 'encoding_format', 'dimensions']

/** The request bodies of the model families with embeddings. */
const FAMILIES: readonly { readonly of: RegExp; body(request: EmbeddingRequest): JsonRecord }[] = [
  {
    of: /amazon\.titan-embed-image/,
    body(request) {
      refuseUnsupportedFields(request, new Set(PUBLIC), API)
      const { dimensions } = request
      const length = dimensions == null ? {} : { embeddingConfig: { outputEmbeddingLength: dimensions } }
      return { inputText: oneText(request), ...length }
    },
  },
  {
    of: /amazon\.titan-embed/,
    body(request) {
      refuseUnsupportedFields(request, new Set([...PUBLIC, 'normalize']), API)
      const { dimensions, normalize } = request
      return {
        inputText: oneText(request),
        ...(dimensions == null ? {} : { dimensions }),
        ...(normalize == null ? {} : { normalize }),
      }
    },
  },
  {
    of: /cohere\.embed/,
    body(request) {
      refuseUnsupportedFields(request, new Set([...PUBLIC, 'input_type', 'truncate']), API)
      const { dimensions, truncate } = request
      return {
        texts: textsOf(request, API),
        input_type: request.input_type ?? 'search_document',
        embedding_types: ['float'],
        ...(dimensions == null ? {} : { output_dimension: dimensions }),
        ...(truncate == null ? {} : { truncate }),
      }
    },
  },
  {
    of: /amazon\.nova-.*embed/,
    body(request) {
      refuseUnsupportedFields(request, new Set([...PUBLIC, 'input_type', 'truncate']), API)
      const { dimensions, input_type, truncate } = request
      return {
        schemaVersion: 'nova-multimodal-embed-v1',
        taskType: 'SINGLE_EMBEDDING',
        singleEmbeddingParams: {
          embeddingPurpose: entryOf(NOVA_PURPOSES, input_type) ?? input_type ?? NOVA_PURPOSES.search_document,
          ...(dimensions == null ? {} : { embeddingDimension: dimensions }),
          text: { truncationMode: truncate ?? 'NONE', value: oneText(request) },
        },
      }
    },
  },
]

/** Nova's words for Cohere's types of input, which most clients know; its own travel. */
const NOVA_PURPOSES = {
  search_document: 'GENERIC_INDEX',
  search_query: 'GENERIC_RETRIEVAL',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
}

function oneText(request: EmbeddingRequest): string | undefined {
  const [text, ...others] = textsOf(request, API)
  if (others.length > 0) throw unsupported('input', API, 'It embeds one text in a call: send one.')
  return text
}

/** Embeddings of Nova, Titan and Cohere models. */
export const invokeEmbedding: Adapter<EmbeddingRequest> = {
  request({ body }, connection) {
    const family = FAMILIES.find(({ of }) => of.test(connection.baseModel))
    if (!family) throw unsupported('model', API, 'Embeddings are made by Nova, Titan and Cohere models.')
    return {
      method: 'POST',
      origin: connection.origin,
      path: invokePath(connection),
      headers: connection.headers,
      body: JSON.stringify(family.body(body)),
    }
  },
  reply(bytes, headers, { body: request }) {
    const body = parseRecord(bytes)
    const vectors = body && vectorsOf(body)
    if (!vectors) {
      throw (
        (body && embeddedFailure(body)) ??
        new GatewayError('upstream_malformed', "The provider's answer has no embeddings.")
      )
    }
    return embeddingList(vectors, request, usageIn(headers, body))
  },
  failure: bedrockFailure,
}

function vectorsOf({ embedding, embeddings }: JsonRecord): readonly unknown[] | undefined {
  if (Array.isArray(embedding)) return [embedding]
  const list = isRecord(embeddings) ? asRecord(embeddings).float : embeddings
  // Nova's are objects, one for each kind of content.
  return Array.isArray(list) ? list.map((one) => (isRecord(one) ? one.embedding : one)) : undefined
}

/** Bedrock reports the tokens in a header; Cohere's models have none in the body. */
function usageIn(headers: Readonly<Record<string, string>>, body: JsonRecord): Usage | undefined {
  const inputTokens = count(Number(headers['x-amzn-bedrock-input-token-count'])) || count(body.inputTextTokenCount)
  return inputTokens === 0 ? undefined : usageOf({ inputTokens })
}
