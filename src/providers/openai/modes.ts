import { joinBytes } from '../../lib/bytes/bytes.ts'
import { editJson } from '../../lib/json/edit-json.ts'
import { asList, asRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { EmbeddingRequest } from '../../modes/embedding.ts'
import type { ImageEditRequest, ImageVariationRequest } from '../../modes/image-edit.ts'
import type { ImageRequest } from '../../modes/image-generation.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import type { ModerationRequest } from '../../modes/moderation.ts'
import { imageName } from '../../modes/price/image-price.ts'
import type { RerankRequest } from '../../modes/rerank.ts'
import type { Usage } from '../../modes/usage.ts'
import { cohereUsage } from '../cohere/cohere-usage.ts'
import type { Adapter, Connection, Outgoing } from '../provider.ts'
import { inBase64 } from '../wire/embedding-list.ts'
import { formRequest } from './form-request.ts'
import { openaiJson } from './json.ts'
import { count, openaiUsage, reportedCost } from './usage.ts'

const embeddings = openaiJson<EmbeddingRequest>({ path: '/embeddings', answers: 'data', reads: true })

/** Embeddings. Some servers answer numbers to a request for base64, which clients would decode as if it were that. */
export const openaiEmbeddings: Adapter<EmbeddingRequest> = {
  ...embeddings,
  reply(bytes, headers, call) {
    const reply = embeddings.reply(bytes, headers, call)
    const encoded = call.body.encoding_format === 'base64' ? inBase64(bytes) : undefined
    return encoded
      ? { bytes: encoded, contentType: 'application/json', usage: reply.usage, outputCharacters: 0 }
      : reply
  },
}

/** Embeddings at a vendor whose API names some fields otherwise, or lacks them: `changes` are those to a request's
 *  fields. */
export function openaiEmbeddingsWith(changes: (call: Outgoing<EmbeddingRequest>) => JsonRecord) {
  return { ...openaiEmbeddings, request: changedRequest(openaiEmbeddings, changes) } satisfies Adapter<EmbeddingRequest>
}

/** The request of an adapter, of which some fields are changed before. */
function changedRequest<Request extends ModelRequest>(
  adapter: Adapter<Request>,
  changes: (call: Outgoing<Request>, connection: Connection) => JsonRecord,
) {
  return (call: Outgoing<Request>, connection: Connection) => {
    const changed = changes(call, connection)
    const body = { ...call.body, ...changed }
    return adapter.request({ ...call, body, bytes: joinBytes(editJson(call.bytes, call.body, changed)) }, connection)
  }
}

export const openaiImages = images('/images/generations', 'image_generation.completed')

/** Images at a vendor whose API names some fields otherwise, or lacks them: `changes` are those to a request's fields. */
export function openaiImagesWith(
  changes: (call: Outgoing<ImageRequest>, connection: Connection) => JsonRecord,
): Adapter<ImageRequest> {
  return { ...openaiImages, request: changedRequest(openaiImages, changes) }
}

/** OpenRouter's path of the same. */
export const openrouterImages = images('/images', 'image_generation.completed')

const edits = images('/images/edits', 'image_edit.completed')
const editsByForm = formRequest('/images/edits')

/** Edits are asked by forms, or refer to their images in JSON; variations are asked by forms. */
export const openaiImageEdits: Adapter<ImageEditRequest> = {
  ...edits,
  request: (call, connection) => (call.form ? editsByForm : edits.request)(call as Outgoing, connection),
}

const { stream: _stream, events: _events, ...variations } = images('/images/variations', '')
export const openaiImageVariations: Adapter<ImageVariationRequest> = {
  ...variations,
  request: formRequest('/images/variations'),
}

function images(path: string, lastType: string): Adapter<ModelRequest> {
  return openaiJson({
    path,
    answers: 'data',
    usage: (answer, request) => ({
      ...withAuthor(answer),
      // xAI tells what a picture has cost, and no tokens of it.
      reportedNano: reportedCost(asRecord(answer.usage)),
      ...(Array.isArray(answer.data) ? { images: answer.data.length } : {}),
      ...(typeof answer.size === 'string'
        ? { imageSize: imageName(answer.size, answer.quality ?? request.quality) }
        : {}),
    }),
    lastEvent: /\.completed$/,
    events: imageEvents(lastType),
  })
}

/** The tokens of a drawing with those of the model that wrote it down, which are told apart. */
function withAuthor({ usage, svg_usage }: JsonRecord): Partial<Usage> {
  const [drawn, written] = [openaiUsage(usage), openaiUsage(svg_usage)]
  if (!written) return {}
  const { inputTokens = 0, outputTokens = 0 } = drawn ?? {}
  return { inputTokens: inputTokens + written.inputTokens, outputTokens: outputTokens + written.outputTokens }
}

/** The events of images that came at once, with all that typed clients require of them. */
export function imageEvents(type: string): NonNullable<Adapter['events']> {
  return ({ data, created, usage, ...how }) =>
    asList(data).map((image) => ({
      type,
      created_at: created,
      background: 'auto',
      quality: 'auto',
      size: 'auto',
      output_format: 'png',
      ...how,
      ...asRecord(image),
      ...(usage ? { usage } : {}),
    }))
}

export const openaiModerations = openaiJson<ModerationRequest>({
  path: '/moderations',
  answers: 'results',
  reads: true,
})

/** The shape of Cohere and Jina, which vLLM and others serve beside OpenAI's. OpenRouter tells its units in the usage. */
export const openaiRerank = openaiJson<RerankRequest>({
  path: '/rerank',
  answers: 'results',
  reads: true,
  usage({ usage, meta }) {
    const { inputTokens = 0, rerankUnits = count(asRecord(usage).search_units) } = cohereUsage(meta) ?? {}
    return {
      ...(rerankUnits === 0 ? {} : { rerankUnits }),
      ...(inputTokens === 0 || openaiUsage(usage) ? {} : { inputTokens }),
    }
  },
})
