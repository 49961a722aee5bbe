import { base64Text } from '../../../lib/bytes/base64.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { asList, asRecord, asText, type JsonRecord, parseRecord } from '../../../lib/json/lenient.ts'
import { adapted, applyTable, carried, type FieldTable, hint, refused } from '../../../modes/field-table.ts'
import { isFormFile } from '../../../modes/form.ts'
import type { ImageEditRequest } from '../../../modes/image-edit.ts'
import type { ImageRequest } from '../../../modes/image-generation.ts'
import { type Usage, usageOf } from '../../../modes/usage.ts'
import { imageEvents } from '../../openai/modes.ts'
import { type Adapter, type Connection, dropper, type Outgoing, type Reply } from '../../provider.ts'
import { cloudObjectRefused } from '../../wire/cloud-objects.ts'
import { answeredAt } from '../../wire/connection/answered-at.ts'
import { fileBytes } from '../../wire/file-bytes.ts'
import { unsupported } from '../../wire/unsupported-fields.ts'
import { GEMINI } from '../api-name.ts'
import { candidateReader } from '../candidate.ts'
import { geminiUsage, tokensIn } from '../gemini-usage.ts'
import { methodPath, OBJECTS } from '../generate-content.ts'
import { failureIn } from '../generate-reply.ts'
import { googleFailure } from '../google-failure.ts'
import { type Part, partOf, typeByEnding } from '../media-part.ts'
import { imageConfigOf } from './image-config.ts'

const FIELDS: FieldTable = {
  model: carried(),
  prompt: carried(),
  image: carried(),
  images: carried(),
  size: carried(),
  aspect_ratio: carried(),
  image_size: carried(),
  response_format: adapted('the image stands in the answer either way; as a data: address for url'),
  stream: adapted("the gateway's own"),
  metadata: adapted("the gateway's own"),
  user: hint(),
  safety_identifier: hint(),
  quality: hint(['auto']),
  complexity: hint(),
  partial_images: hint([0, '0']),
  style: hint(),
  moderation: hint(['auto']),
  input_fidelity: hint(),
  output_format: hint(),
  output_compression: hint(),
  background: refused(['auto', 'opaque']),
  n: refused([1], 'the model makes one image in a call'),
}

const encoder = new TextEncoder()

type Asked = ImageRequest | ImageEditRequest

/** Images of a text with a model that answers in images. A stream of them has one event. */
export const generateImage: Adapter<Asked> = {
  async request(call, connection) {
    const { body } = call
    applyTable(body, FIELDS, {
      drop: dropper(call),
      refuse(field) {
        throw field === 'n' ? unsupported(field, GEMINI, 'Ask for one image in a call.') : unsupported(field, GEMINI)
      },
    })
    const imageConfig = imageConfigOf(body)
    return {
      method: 'POST',
      origin: connection.origin,
      path: methodPath(connection, 'generateContent'),
      headers: { ...connection.headers, 'content-type': 'application/json' },
      body: JSON.stringify({
        contents: [{ role: 'user', parts: [{ text: body.prompt }, ...(await partsOf(call, connection))] }],
        generationConfig: { responseModalities: ['IMAGE'], ...(imageConfig ? { imageConfig } : {}) },
      }),
    }
  },
  reply: imagesIn,
  events: imageEvents('image_generation.completed'),
  failure: googleFailure,
}

/** The same of images and a text. */
export const editImage: Adapter<Asked> = { ...generateImage, events: imageEvents('image_edit.completed') }

/** The images of a request, in order: files of its form, or what it refers to. */
async function partsOf({ body }: Outgoing<Asked>, connection: Connection): Promise<Part[]> {
  const parts: Part[] = []
  for (const file of [body.image ?? []].flat()) {
    if (!isFormFile(file)) throw unsupported('image', GEMINI, 'Send the image as a file.')
    const { filename, contentType } = file
    const mimeType = contentType.startsWith('image/') ? contentType : (typeByEnding(filename) ?? 'image/png')
    parts.push({ inlineData: { mimeType, data: base64Text(await fileBytes(file)) } })
  }
  for (const [index, reference] of asList(body.images).entries()) {
    const url = asText(asRecord(reference).image_url)
    const at = `images.${index}`
    if (OBJECTS.test(url.trimStart()) && !connection.parameters.allow_cloud_objects) {
      throw cloudObjectRefused(`${at}.image_url`)
    }
    parts.push(partOf({ type: 'image_url', image_url: url }, at))
  }
  return parts
}

/** The public list of images. Thoughts of the model and words beside the images are left out. */
function imagesIn(bytes: Uint8Array, headers: Readonly<Record<string, string>>, { body }: Outgoing<Asked>): Reply {
  const answer = parseRecord(bytes)
  if (!answer) throw new GatewayError('upstream_malformed', "The provider's answer is not JSON.")
  const failure = failureIn(answer)
  if (failure) throw failure
  const pictures = asList(answer.candidates).map(asRecord).flatMap(picturesOf)
  const [first] = pictures
  if (!first) throw new GatewayError('unusable_answer', "The provider's answer holds no image.")
  const known = geminiUsage(answer.usageMetadata, headers)
  const usage = { ...(known ?? usageOf({})), images: pictures.length }
  const list = {
    created: answeredAt(headers),
    data: pictures.map(({ mimeType, data }) =>
      body.response_format === 'url' && !body.stream ? { url: `data:${mimeType};base64,${data}` } : { b64_json: data },
    ),
    output_format: first.mimeType.replace('image/', ''),
    ...(known ? { usage: publicUsage(known, asRecord(answer.usageMetadata)) } : {}),
  }
  return { bytes: encoder.encode(JSON.stringify(list)), contentType: 'application/json', usage, outputCharacters: 0 }
}

interface Picture {
  readonly mimeType: string
  readonly data: string
}

function picturesOf(candidate: JsonRecord): Picture[] {
  const parts = asList(asRecord(candidate.content).parts).map(asRecord)
  const pictures = parts.flatMap(({ inlineData, thought }) => {
    const { mimeType, data } = asRecord(inlineData)
    const isPicture = thought !== true && asText(data) !== '' && asText(mimeType).startsWith('image/')
    return isPicture ? [{ mimeType: asText(mimeType), data: asText(data) }] : []
  })
  // Without an image, the end says whether it was filtered or not completed.
  if (pictures.length === 0) candidateReader('').finish(candidate)
  return pictures
}

function publicUsage({ inputTokens, outputTokens, cachedInputTokens }: Usage, { promptTokensDetails }: JsonRecord) {
  const image_tokens = Math.min(inputTokens, tokensIn(promptTokensDetails, 'IMAGE'))
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    input_tokens_details: {
      text_tokens: inputTokens - image_tokens,
      image_tokens,
      ...(cachedInputTokens > 0 ? { cached_tokens: cachedInputTokens } : {}),
    },
  }
}
