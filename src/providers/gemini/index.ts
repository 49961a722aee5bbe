import { asList, asText } from '../../lib/json/lenient.ts'
import { type Adapters, adapterFor, type ListedModel, type Provider } from '../provider.ts'
import { connectionAt, JSON_HEADERS } from '../wire/connection/connection-at.ts'
import { healthRequestAt } from '../wire/connection/health-request.ts'
import { listingAt } from '../wire/connection/model-listing.ts'
import { THINKING } from '../wire/fitting/vendor-words.ts'
import { batchEmbed } from './batch-embed.ts'
import { generateContent, tieredContent } from './generate-content.ts'
import { editImage, generateImage } from './media/generate-image.ts'
import { generateSpeech } from './media/generate-speech.ts'
import { nativeGeminiCount, nativeGenerateContent } from './native-generate.ts'

const API_BASE = 'https://generativelanguage.googleapis.com'
const API_VERSION = 'v1beta'

export const geminiAdapters: Adapters = {
  chat: adapterFor(generateContent),
  generate_content: nativeGenerateContent,
  gemini_count_tokens: nativeGeminiCount,
  embedding: adapterFor(batchEmbed),
  image_generation: adapterFor(generateImage),
  image_edit: adapterFor(editImage),
  audio_speech: adapterFor(generateSpeech),
}

const models = listingAt('/models?pageSize=1000', 'models', (model) => {
  const methods = asList(model.supportedGenerationMethods)
  const embeds = methods.includes('embedContent') || methods.includes('batchEmbedContents')
  const chats = methods.includes('generateContent')
  if (!embeds && !chats) return undefined
  const id = asText(model.name).replace(/^models\//, '')
  return { id, name: asText(model.displayName) || undefined, mode: chats ? modeOf(id) : 'embedding' }
})

/** Models that generate content differ in what it is by their names alone. */
function modeOf(id: string): ListedModel['mode'] {
  if (/-tts\b/.test(id)) return 'audio_speech'
  return /-image\b|nano-banana/.test(id) ? 'image_generation' : 'chat'
}

/** Google's Gemini API with an API key. */
export const gemini: Provider = {
  kind: 'gemini',
  profile: {
    label: 'Google Gemini',
    address: API_BASE,
    credentials: [['api_key']],
    parameters: { api_version: { meaning: 'The version in the address.', default: API_VERSION } },
  },
  listings: () => [models],
  connect(parameters, defaults) {
    const own = { ...JSON_HEADERS, 'x-goog-api-key': parameters.api_key }
    const connection = connectionAt(parameters.api_base ?? API_BASE, own, parameters, defaults)
    const { basePath: path } = connection
    // An address that ends in a version is complete.
    return /\/v\d\w*$/.test(path)
      ? connection
      : { ...connection, basePath: `${path}/${parameters.api_version ?? API_VERSION}` }
  },
  healthRequest: healthRequestAt('/models?pageSize=1'),
  words: THINKING,
  adapters: { ...geminiAdapters, chat: adapterFor(tieredContent) },
}
