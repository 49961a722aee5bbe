import { openaiChatWith } from '../openai/chat.ts'
import type { ChatQuirks } from '../openai/chat-quirks.ts'
import { openaiEmbeddings, openaiImages, openaiRerank } from '../openai/modes.ts'
import { openaiResponses } from '../openai/responses.ts'
import { openaiSpeech } from '../openai/speech.ts'
import { openaiTranscription } from '../openai/transcription.ts'
import { type Adapter, adapterFor, type Provider } from '../provider.ts'
import { bearerConnection } from '../wire/connection/bearer-connection.ts'
import { healthRequestAt } from '../wire/connection/health-request.ts'

const MEDIA = {
  embedding: adapterFor(openaiEmbeddings),
  image_generation: adapterFor(openaiImages),
  audio_speech: adapterFor(openaiSpeech),
  audio_transcription: adapterFor(openaiTranscription),
  rerank: adapterFor(openaiRerank),
  responses: adapterFor(openaiResponses),
} satisfies Record<string, Adapter>

/** The properties of one vendor of OpenAI's shape. */
export interface Vendor extends ChatQuirks {
  /** With its path, e.g. `https://api.groq.com/openai/v1`; `{project}` in it is replaced by the operator's project. Absent
   *  if only the operator knows it. */
  readonly apiBase?: string
  /** What it serves besides chat, in OpenAI's shape and at OpenAI's paths. */
  readonly modes: readonly (keyof typeof MEDIA)[]
  /** It does not list its models at /models. */
  readonly models?: false
  readonly routingFields?: Provider['routingFields']
}

/** The provider of a vendor of OpenAI's shape. */
export function openaiCompatible(kind: string, { apiBase, modes, models, routingFields, ...quirks }: Vendor): Provider {
  return {
    kind,
    ...(apiBase === undefined ? { needsAddress: true } : {}),
    connect: (parameters, defaults) => bearerConnection(kind, apiBase, parameters, defaults),
    adapters: {
      chat: adapterFor(openaiChatWith(quirks)),
      ...Object.fromEntries(modes.map((mode) => [mode, MEDIA[mode]])),
    },
    ...(models === false ? {} : { healthRequest: healthRequestAt('/models') }),
    ...(routingFields ? { routingFields } : {}),
  }
}
