import { chatOrResponses } from '../openai/by-responses/chat-or-responses.ts'
import { openaiChatWith } from '../openai/chat.ts'
import type { ChatQuirks } from '../openai/chat-quirks.ts'
import {
  openaiEmbeddings,
  openaiEmbeddingsWith,
  openaiImageEdits,
  openaiImages,
  openaiImageVariations,
  openaiModerations,
  openaiRerank,
} from '../openai/modes.ts'
import { openaiResponsesWith } from '../openai/responses.ts'
import { openaiSpeech } from '../openai/speech.ts'
import { openaiTranscription, openaiTranslation } from '../openai/transcription.ts'
import { type Adapter, type Adapters, adapterFor, dropper, type Profile, type Provider } from '../provider.ts'
import { bearerConnection } from '../wire/connection/bearer-connection.ts'
import { healthRequestAt } from '../wire/connection/health-request.ts'
import { openaiListing } from '../wire/connection/model-listing.ts'

const MEDIA = {
  embedding: adapterFor(openaiEmbeddings),
  image_generation: adapterFor(openaiImages),
  image_edit: adapterFor(openaiImageEdits),
  image_variation: adapterFor(openaiImageVariations),
  audio_speech: adapterFor(openaiSpeech),
  audio_transcription: adapterFor(openaiTranscription),
  audio_translation: adapterFor(openaiTranslation),
  rerank: adapterFor(openaiRerank),
  moderation: adapterFor(openaiModerations),
} satisfies Record<string, Adapter>

/** The properties of one vendor of OpenAI's shape. */
export interface Vendor {
  readonly label: string
  /** With its path, e.g. `https://api.groq.com/openai/v1`; `{project}` in it is replaced by the operator's project. Absent
   *  if only the operator knows it. */
  readonly apiBase?: string
  /** What it serves besides chat, in OpenAI's shape and at OpenAI's paths. */
  readonly modes: readonly (keyof typeof MEDIA | 'responses')[]
  /** What it serves in a shape or at a path of its own. */
  readonly own?: Adapters
  /** Where its chat differs from OpenAI's; its Responses refuse the same fields. */
  readonly chat?: ChatQuirks
  /** It does not list its models at /models. */
  readonly models?: false
  /** A server of the operator's own, which asks for a key only if the operator wants it to. */
  readonly keyless?: true
  readonly routingFields?: Provider['routingFields']
  readonly words?: Provider['words']
  readonly writesCache?: Provider['writesCache']
  /** Its models reason beside functions in Responses only. */
  readonly reasonsInResponses?: true
  /** Its models are named with their makers: the maker of those that are named without. */
  readonly maker?: string
  /** Its name for the `dimensions` of embeddings. */
  readonly dimensions?: string
}

/** The provider of a vendor of OpenAI's shape. */
export function openaiCompatible(kind: string, vendor: Vendor): Provider {
  const { label, apiBase, modes, own, chat = {}, models, routingFields, words, writesCache, dimensions } = vendor
  const { reasonsInResponses, maker } = vendor
  const served = { ...MEDIA, responses: adapterFor(openaiResponsesWith(chat.fields ?? {})) }
  const adapters: Adapters = {
    chat: adapterFor(openaiChatWith(chat)),
    ...Object.fromEntries(modes.map((mode) => [mode, served[mode]])),
    ...(dimensions ? { embedding: adapterFor(embeddingsNaming(dimensions)) } : {}),
    ...own,
  }
  return {
    kind,
    profile: profileOf(vendor),
    listings: () =>
      models === false ? `${label} has no list of its models to ask for: type the name of one.` : [openaiListing],
    ...(apiBase === undefined ? { needsAddress: true } : {}),
    connect(parameters, defaults) {
      const connection = bearerConnection(kind, apiBase, parameters, defaults)
      const isFullName = maker === undefined || connection.model.includes('/')
      return isFullName ? connection : { ...connection, model: `${maker}/${connection.model}` }
    },
    adapters,
    ...(reasonsInResponses
      ? { adaptersOf: (connection) => ({ ...adapters, chat: adapterFor(chatOrResponses(connection)) }) }
      : {}),
    ...(models === false ? {} : { healthRequest: healthRequestAt('/models') }),
    ...(routingFields ? { routingFields } : {}),
    ...(words ? { words } : {}),
    ...(writesCache ? { writesCache } : {}),
  }
}

/** Embeddings at a vendor with a name of its own for `dimensions`, which refuses fields that it does not know. */
function embeddingsNaming(name: string) {
  return openaiEmbeddingsWith((call) => {
    const { dimensions, user } = call.body
    if (user != null) dropper(call)('user')
    return {
      ...(user === undefined ? {} : { user: undefined }),
      ...(dimensions == null ? {} : { dimensions: undefined, [name]: dimensions }),
    }
  })
}

function profileOf({ label, apiBase, keyless }: Vendor): Profile {
  const needsProject = apiBase?.includes('{project}') === true
  return {
    label,
    ...(apiBase === undefined ? {} : { address: apiBase }),
    credentials: keyless ? [] : [['api_key']],
    parameters: {
      ...(keyless ? { api_key: {} } : {}),
      ...(apiBase === undefined
        ? { api_base: { required: true, meaning: 'The address with its version, such as https://llm.example.com/v1.' } }
        : {}),
      ...(needsProject ? { project: { required: true, meaning: "The account's id." } } : {}),
    },
  }
}
