import type { GatewayParams } from '../../config/sections/model-list.ts'
import { asList, asRecord } from '../../lib/json/lenient.ts'
import type { UpstreamRequest } from '../../transport/transport.ts'
import { chatOrResponses } from '../openai/by-responses/chat-or-responses.ts'
import { openaiChat, openaiChatWith } from '../openai/chat.ts'
import { OPENAI_QUIRKS } from '../openai/chat-quirks.ts'
import { MAX_TOKENS } from '../openai/fitting/limit.ts'
import { openaiEmbeddings, openaiImageEdits, openaiImages } from '../openai/modes.ts'
import { openaiResponses } from '../openai/responses.ts'
import { openaiSpeech } from '../openai/speech.ts'
import { openaiTranscription, openaiTranslation } from '../openai/transcription.ts'
import { type Adapter, type Adapters, adapterFor, type Connection, type Provider } from '../provider.ts'
import { cloudObjectRefused } from '../wire/cloud-objects.ts'
import { bearerConnection } from '../wire/connection/bearer-connection.ts'
import { FUNCTIONS } from '../wire/fitting/vendor-words.ts'

const FIRST_WITH_RESPONSES = '2025-03-01'
/** Versions before it know neither the usage of streams, nor the newer name of the limit, nor whether calls are parallel. */
const FIRST_WITH_NEWER_FIELDS = '2024-09'

/** Chat that is not asked for the usage of its streams. */
const withoutStreamOptions = adapterFor(openaiChatWith({ ...OPENAI_QUIRKS, answers: { usageUnasked: true } }))

const withoutNewerFields = adapterFor(
  openaiChatWith({
    ...OPENAI_QUIRKS,
    fields: { ...OPENAI_QUIRKS.fields, refuses: [...OPENAI_QUIRKS.fields.refuses, 'parallel_tool_calls'] },
    limit: MAX_TOKENS,
    answers: { usageUnasked: true },
  }),
)

const withoutResponses: Adapters = {
  chat: versioned(withoutConnections(adapterFor(openaiChat), withoutStreamOptions)),
  embedding: versioned(adapterFor(openaiEmbeddings)),
  image_generation: versioned(adapterFor(openaiImages)),
  image_edit: versioned(adapterFor(openaiImageEdits)),
  audio_speech: versioned(adapterFor(openaiSpeech)),
  audio_transcription: versioned(adapterFor(openaiTranscription)),
  audio_translation: versioned(adapterFor(openaiTranslation)),
}

const oldest: Adapters = {
  ...withoutResponses,
  chat: versioned(withoutConnections(withoutNewerFields)),
}

/** The deployment of Responses is in the body, not in the path. */
const asResponses = (path: string) => path.replace(/\/deployments\/[^/]+(?=\/responses$)/, '')

const adapters: Adapters = {
  ...withoutResponses,
  responses: versioned(withoutConnections(adapterFor(openaiResponses)), asResponses),
}

/** OpenAI's API on Azure: one address without dates (`/openai/v1`), or one for each deployment with a dated version. */
export const azure: Provider = {
  kind: 'azure',
  profile: {
    label: 'Azure OpenAI',
    credentials: [['api_key']],
    parameters: {
      api_base: { required: true, meaning: "The resource's address: https://<resource>.openai.azure.com." },
      base_model: {
        meaning: "The model that is deployed, by OpenAI's name: gpt-6-luna. Prices and what it takes are known by it.",
      },
      api_version: { meaning: 'A dated version, for a deployment that has its own address.', default: 'v1' },
    },
  },
  listings: () =>
    "Azure lists the models that a resource could deploy, not its deployments: the model is the deployment's name, as you gave it.",
  needsAddress: true,
  connect(parameters, defaults) {
    const { api_key, ...rest } = parameters
    const connection = bearerConnection('azure', undefined, rest, defaults)
    const resource = connection.basePath.replace(/\/openai(\/v1|\/deployments\/[^/]+)?$/, '')
    const deployment = `/openai/deployments/${encodeURIComponent(connection.model)}`
    return {
      ...connection,
      parameters,
      basePath: resource + (isDated(parameters) ? deployment : '/openai/v1'),
      headers: { ...(api_key ? { 'api-key': api_key } : {}), ...connection.headers },
    }
  },
  words: new Set([FUNCTIONS]),
  adapters,
  writesCache: true,
  adaptersOf(connection) {
    const { parameters } = connection
    const { api_version: version = '' } = parameters
    if (isDated(parameters) && version < FIRST_WITH_NEWER_FIELDS) return oldest
    if (isDated(parameters) && version < FIRST_WITH_RESPONSES) return withoutResponses
    const latest = adapterFor(chatOrResponses(connection))
    const chat = versioned(withoutConnections(latest, withoutStreamOptions), asResponses)
    return { ...adapters, chat }
  },
}

/** `v1`, `preview` and none mean the address without dates. */
function isDated({ api_version }: Pick<GatewayParams, 'api_version'>): boolean {
  return api_version !== undefined && /^\d{4}-/.test(api_version)
}

/** Members of a tool that make Azure read data with the identity of the resource. */
const CONNECTION = /"((project_)?connection_id|index_asset_id)":/

/** An adapter that refuses requests for data which the resource would read with its own identity, unless the operator allows
 *  it. `grounded` asks for an answer from such data, which knows fewer fields. */
function withoutConnections(adapter: Adapter, grounded = adapter): Adapter {
  return {
    ...adapter,
    request(call, connection) {
      const { body } = call
      if (!connection.parameters.allow_cloud_objects) {
        for (const field of DATA_SOURCES) if (body[field] != null) throw cloudObjectRefused(field)
        for (const [index, tool] of asList(body.tools).entries()) {
          const { type } = asRecord(tool)
          if (type !== 'function' && CONNECTION.test(JSON.stringify(tool))) throw cloudObjectRefused(`tools.${index}`)
        }
      }
      const isGrounded = DATA_SOURCES.some((field) => body[field] != null)
      return (isGrounded ? grounded : adapter).request(call, connection)
    },
  }
}

const DATA_SOURCES = ['data_sources', 'dataSources'] as const

/** An adapter whose requests carry the API version. */
function versioned(adapter: Adapter, place: (path: string) => string = (path) => path): Adapter {
  const withVersion = (request: UpstreamRequest, { parameters }: Connection): UpstreamRequest => {
    const { api_version } = parameters
    const path = place(request.path)
    const undated = api_version === undefined || api_version === 'v1'
    return { ...request, path: undated ? path : `${path}?api-version=${encodeURIComponent(api_version)}` }
  }
  return {
    ...adapter,
    async request(call, connection) {
      return withVersion(await adapter.request(call, connection), connection)
    },
  }
}
