import type { GatewayParams } from '../../config/sections/model-list.ts'
import { MESSAGES_ROUTING } from '../anthropic/native-messages.ts'
import { OBJECTS } from '../gemini/generate-content.ts'
import { googleFailure } from '../gemini/google-failure.ts'
import { geminiAdapters } from '../gemini/index.ts'
import { openaiChatWith } from '../openai/chat.ts'
import { MAX_TOKENS } from '../openai/fitting/limit.ts'
import { type Adapters, adapterFor, type Connection, type Provider } from '../provider.ts'
import { connectionAt, JSON_HEADERS } from '../wire/connection/connection-at.ts'
import { THINKING } from '../wire/fitting/vendor-words.ts'
import { accessTokens } from './access-tokens.ts'
import { claudeAdapters } from './claude.ts'
import { predictEmbeddings } from './predict-embeddings.ts'
import { type ServiceAccount, serviceAccountOf } from './service-account.ts'

const API_VERSION = 'v1'
const REGION = 'global'
const CLAUDE = /^claude-/
/** A model that the operator deployed or tuned; it belongs to the project, not to a publisher. */
const ENDPOINT = /^endpoints\/[^/]+$/

/** An open model of another vendor, `<vendor>/<model>`, which Vertex serves in OpenAI's shape. Mistral's are not among
 *  them. */
const OPEN = /^(?!mistralai\/)[\w.-]+\/[\w.@:-]+$/

const google: Adapters = { ...geminiAdapters, embedding: adapterFor(predictEmbeddings) }
const open: Adapters = {
  chat: adapterFor({ ...openaiChatWith({ limit: MAX_TOKENS, readsOwn: OBJECTS }), failure: googleFailure }),
}
const accounts = new WeakMap<Connection, ServiceAccount>()
const tokenFor = accessTokens()

/** Google Cloud's Vertex AI: Gemini, Claude and open models in a project, with a service account or an API key. */
export const vertex: Provider = {
  kind: 'vertex',
  profile: {
    label: 'Google Vertex AI',
    address: 'https://{region}-aiplatform.googleapis.com',
    credentials: [['api_key']],
    parameters: {
      api_key: { meaning: 'The JSON of a service account, or an API key.' },
      project: { meaning: "The project's id; of a service account its own, where it is left out." },
      region: { meaning: 'A region, us, eu or global.', default: REGION },
      base_model: { meaning: 'The model at an endpoint, such as gemini-3.8-flash.' },
      api_version: { meaning: 'The version in the address.', default: API_VERSION },
    },
  },
  listings: () =>
    'Vertex lists its models only to consoles of Google: type a name such as gemini-3.8-flash, claude-sonnet-5-5, openai/gpt-oss-120b-maas or endpoints/<id>.',
  connect(parameters, defaults) {
    if (!parameters.api_key) {
      throw new TypeError("provider 'vertex' needs gateway_params.api_key: a service account's JSON, or an API key")
    }
    const account = serviceAccountOf(parameters.api_key)
    const region = parameters.region ?? REGION
    const base = parameters.api_base ?? `https://${hostOf(region)}`
    const own = { ...JSON_HEADERS, 'x-goog-api-key': account ? undefined : parameters.api_key }
    const address = connectionAt(base, own, parameters, defaults)
    const basePath = `${address.basePath}/${collectionOf(parameters, account, region)}`
    const connection = { ...address, basePath }
    if (account) accounts.set(connection, account)
    return connection
  },
  words: THINKING,
  adapters: google,
  routingFields: MESSAGES_ROUTING,
  adaptersOf({ model }) {
    if (CLAUDE.test(model)) return claudeAdapters
    return isOpen(model) ? open : google
  },
  async authorize(request, connection, means) {
    const account = accounts.get(connection)
    if (!account) return request
    return { ...request, headers: { ...request.headers, authorization: await tokenFor(account, means) } }
  },
}

function isOpen(model: string): boolean {
  return OPEN.test(model) && !ENDPOINT.test(model)
}

/** `us` and `eu` are multi-regions, whose host names differ. */
function hostOf(region: string): string {
  if (region === 'global') return 'aiplatform.googleapis.com'
  if (region === 'us' || region === 'eu') return `aiplatform.${region}.rep.googleapis.com`
  return `${region}-aiplatform.googleapis.com`
}

/** The path of the collection that contains the model. An API key implies its project. */
function collectionOf(parameters: GatewayParams, account: ServiceAccount | undefined, region: string): string {
  const { upstream_model: model, api_version: version = API_VERSION } = parameters
  const project = parameters.project ?? account?.projectId
  if (project === undefined && (account || model.includes('/'))) {
    throw new TypeError("provider 'vertex' needs gateway_params.project")
  }
  const place = project === undefined ? version : `${version}/projects/${project}/locations/${region}`
  if (ENDPOINT.test(model)) return place
  if (isOpen(model)) return `${place}/endpoints/openapi`
  if (model.includes('/')) {
    throw new TypeError(
      `provider 'vertex' serves gemini-…, claude-…, <vendor>/<model> and endpoints/<id>, not '${model}'`,
    )
  }
  return `${place}/publishers/${CLAUDE.test(model) ? 'anthropic' : 'google'}`
}
