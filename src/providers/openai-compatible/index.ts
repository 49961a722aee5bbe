import { type ChatQuirks, openaiChatWith } from '../openai/chat.ts'
import { openaiEmbeddings, openaiImages, openaiRerank } from '../openai/modes.ts'
import { openaiResponses } from '../openai/responses.ts'
import { openaiSpeech } from '../openai/speech.ts'
import { openaiTranscription } from '../openai/transcription.ts'
import { type Adapter, adapterFor, type Provider } from '../provider.ts'
import { bearerConnection } from '../wire/connection/bearer-connection.ts'
import { lookAt } from '../wire/connection/look-at.ts'

const MEDIA = {
  embedding: adapterFor(openaiEmbeddings),
  image_generation: adapterFor(openaiImages),
  audio_speech: adapterFor(openaiSpeech),
  audio_transcription: adapterFor(openaiTranscription),
  rerank: adapterFor(openaiRerank),
  responses: adapterFor(openaiResponses),
} satisfies Record<string, Adapter>

/** What tells one OpenAI-shaped vendor from another. */
export interface Vendor extends ChatQuirks {
  /** With its path, e.g. `https://api.groq.com/openai/v1`; `{project}` in it stands for the operator's project. Absent
   *  where only the operator can know it. */
  readonly apiBase?: string
  /** What it serves beside chat, in OpenAI's shape and at OpenAI's paths. */
  readonly beside: readonly (keyof typeof MEDIA)[]
  /** It does not list its models at /models. */
  readonly models?: false
  readonly routingFields?: Provider['routingFields']
}

/** A vendor that speaks the OpenAI shape: a data row, not a file. */
export function openaiCompatible(
  kind: string,
  { apiBase, beside, models, routingFields, ...quirks }: Vendor,
): Provider {
  return {
    kind,
    ...(apiBase === undefined ? { needsAddress: true } : {}),
    connect: (parameters, defaults) => bearerConnection(kind, apiBase, parameters, defaults),
    adapters: {
      chat: adapterFor(openaiChatWith(quirks)),
      ...Object.fromEntries(beside.map((mode) => [mode, MEDIA[mode]])),
    },
    ...(models === false ? {} : { look: lookAt('/models') }),
    ...(routingFields ? { routingFields } : {}),
  }
}
