import { asList, asRecord } from '../../lib/json/lenient.ts'
import type { EmbeddingRequest } from '../../modes/embedding.ts'
import type { ImageRequest } from '../../modes/image-generation.ts'
import { imageName } from '../../modes/price/image-price.ts'
import type { RerankRequest } from '../../modes/rerank.ts'
import { cohereUsage } from '../cohere/cohere-usage.ts'
import { openaiJson } from './json.ts'
import { openaiUsage } from './usage.ts'

export const openaiEmbeddings = openaiJson<EmbeddingRequest>({ path: '/embeddings', answers: 'data', reads: true })

export const openaiImages = openaiJson<ImageRequest>({
  path: '/images/generations',
  answers: 'data',
  usage: (answer, request) => ({
    ...(Array.isArray(answer.data) ? { images: answer.data.length } : {}),
    ...(typeof answer.size === 'string'
      ? { imageSize: imageName(answer.size, answer.quality ?? request.quality) }
      : {}),
  }),
  lastEvent: /\.completed$/,
  events: ({ data, created, usage, ...how }) =>
    asList(data).map((image) => {
      const type = 'image_generation.completed'
      return { type, created_at: created, ...how, ...asRecord(image), ...(usage ? { usage } : {}) }
    }),
})

/** The shape of Cohere and Jina, which vLLM and others serve beside OpenAI's. */
export const openaiRerank = openaiJson<RerankRequest>({
  path: '/rerank',
  answers: 'results',
  reads: true,
  usage({ usage, meta }) {
    const { inputTokens = 0, rerankUnits = 0 } = cohereUsage(meta) ?? {}
    return {
      ...(rerankUnits === 0 ? {} : { rerankUnits }),
      ...(inputTokens === 0 || openaiUsage(usage) ? {} : { inputTokens }),
    }
  },
})
