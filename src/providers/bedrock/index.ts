import { AwsV4Signer } from 'aws4fetch'
import type { GatewayParams } from '../../config/sections/model-list.ts'
import { asList, asText } from '../../lib/json/lenient.ts'
import { reveal, secret } from '../../lib/secret.ts'
import type { UpstreamRequest } from '../../transport/transport.ts'
import { wholeBody } from '../../transport/whole-body.ts'
import { adapterFor, type Connection, type ListedModel, type Listing, type Provider } from '../provider.ts'
import { connectionAt } from '../wire/connection/connection-at.ts'
import { listingAt } from '../wire/connection/model-listing.ts'
import { THINKING } from '../wire/fitting/vendor-words.ts'
import { converse } from './converse.ts'
import { invokeEmbedding } from './invoke-embedding.ts'
import { invokeRerank } from './invoke-rerank.ts'

/** Amazon Bedrock: chat by Converse, embeddings and reranking by InvokeModel, with an AWS key or an API key. */
export const bedrock: Provider = {
  kind: 'bedrock',
  profile: {
    label: 'Amazon Bedrock',
    address: 'https://bedrock-runtime.{region}.amazonaws.com',
    credentials: [['api_key'], ['aws_access_key_id', 'aws_secret_access_key']],
    parameters: {
      region: { required: true, meaning: 'The AWS region, such as us-east-1.' },
      base_model: { meaning: "The model's id, where an ARN hides it: anthropic.claude-sonnet-5-5." },
      aws_session_token: {},
    },
  },
  listings: ({ parameters }) =>
    parameters.api_base === undefined
      ? [foundationModels, inferenceProfiles]
      : "Models are listed at AWS's own addresses only, and api_base is another one: type the model's id.",
  connect(parameters, defaults) {
    const { api_key: apiKey } = parameters
    if (!apiKey && !(parameters.aws_access_key_id && parameters.aws_secret_access_key)) {
      throw new TypeError(
        "provider 'bedrock' needs gateway_params.api_key, or aws_access_key_id and aws_secret_access_key",
      )
    }
    const base = parameters.api_base ?? `https://bedrock-runtime.${regionOf(parameters)}.${domainOf(parameters)}`
    const own = {
      'content-type': 'application/json',
      accept: 'application/json, application/vnd.amazon.eventstream',
      authorization: apiKey && secret(`Bearer ${reveal(apiKey)}`),
    }
    return connectionAt(base, own, parameters, defaults)
  },
  words: THINKING,
  adapters: {
    chat: adapterFor(converse),
    embedding: adapterFor(invokeEmbedding),
    rerank: adapterFor(invokeRerank),
  },
  authorize: (request, connection, { now }) => signed(request, connection, now),
}

const MODALITIES: Readonly<Record<string, ListedModel['mode']>> = { TEXT: 'chat', EMBEDDING: 'embedding' }

/** The models that are called by their own ids. */
const foundationModels = onControlPlane(
  listingAt('/foundation-models?byInferenceType=ON_DEMAND', 'modelSummaries', (model) => {
    const [modality] = asList(model.outputModalities)
    const mode = MODALITIES[asText(modality)]
    return mode && { id: asText(model.modelId), name: asText(model.modelName) || undefined, mode }
  }),
)

/** The models that are called by the ids of profiles, which spread the calls over regions. */
const inferenceProfiles = onControlPlane(
  listingAt('/inference-profiles?maxResults=1000', 'inferenceProfileSummaries', (profile) => ({
    id: asText(profile.inferenceProfileId),
    name: asText(profile.inferenceProfileName) || undefined,
  })),
)

/** Models are listed at another host than the one that runs them, with the same credentials. */
function onControlPlane({ request, read }: Listing): Listing {
  return {
    request(connection) {
      const origin = connection.origin.replace('//bedrock-runtime.', '//bedrock.')
      return request({ ...connection, origin })
    },
    read,
  }
}

function regionOf({ region, aws_region_name }: GatewayParams): string {
  const name = region ?? aws_region_name
  if (name === undefined) throw new TypeError("provider 'bedrock' needs gateway_params.region")
  return name
}

function domainOf(parameters: GatewayParams): string {
  return regionOf(parameters).startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
}

/** Derived signing keys by connection. Each is valid for a day, a region and a service. */
const signingKeys = new WeakMap<Connection, Map<string, ArrayBuffer>>()
const DAYS_KEPT = 2

async function signed(request: UpstreamRequest, connection: Connection, now: number): Promise<UpstreamRequest> {
  const { api_key, aws_access_key_id, aws_secret_access_key, aws_session_token } = connection.parameters
  if (api_key || !aws_access_key_id || !aws_secret_access_key) return request
  let cache = signingKeys.get(connection)
  if (!cache || cache.size > DAYS_KEPT) {
    cache = new Map()
    signingKeys.set(connection, cache)
  }
  // Proxies may change other headers, so only the host and the signature's own headers are signed.
  const signer = new AwsV4Signer({
    method: request.method,
    url: request.origin + request.path,
    body: wholeBody(request.body) as BodyInit,
    accessKeyId: aws_access_key_id,
    secretAccessKey: reveal(aws_secret_access_key),
    ...(aws_session_token ? { sessionToken: reveal(aws_session_token) } : {}),
    service: 'bedrock',
    region: regionOf(connection.parameters),
    datetime: new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, ''),
    cache,
  })
  const { headers } = await signer.sign()
  return {
    ...request,
    headers: {
      ...request.headers,
      'x-amz-date': headers.get('x-amz-date') ?? '',
      ...(aws_session_token ? { 'x-amz-security-token': aws_session_token } : {}),
      authorization: secret(headers.get('authorization') ?? ''),
    },
  }
}
