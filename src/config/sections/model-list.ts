import * as z from 'zod'
import { lazily } from '../../lib/lazily.ts'
import {
  baseAddress,
  checked,
  count,
  evenIfBroken,
  flag,
  headerSecret,
  headers,
  headerText,
  isMap,
  positiveCount,
  positiveSeconds,
  secretText,
  section,
  text,
} from '../fields.ts'
import { suggestion } from '../nearest.ts'
import type { Registered, RegisteredProvider } from '../registered.ts'
import { pricing } from './pricing.ts'

export const MODEL_MODES = [
  'chat',
  'completion',
  'embedding',
  'image_generation',
  'audio_speech',
  'audio_transcription',
  'rerank',
  'moderation',
] as const
export type ModelMode = (typeof MODEL_MODES)[number]

export const name = () =>
  checked((value) => {
    // A URL removes these segments even if they are escaped.
    if (value === '.' || value === '..') return 'must not be . or .., which no address can name'
    return value.length > 256 || value.trim() !== value || /[\p{Cc}\p{Cs}]/u.test(value)
      ? 'must be at most 256 characters, without control characters or spaces at its ends'
      : undefined
  })

/** A region becomes a part of the provider's host name. It must not change the host, which receives credentials. */
const region = () =>
  checked((value) =>
    /^[A-Za-z0-9-]+$/.test(value) ? undefined : 'must be the name of a region, of letters, digits and - alone',
  )

/** The provider, and the model's name at it. `provider` wins over the first segment of `model`. */
export function resolveModel(
  provider: unknown,
  model: string,
): { provider: string | undefined; upstreamModel: string } {
  const slash = model.indexOf('/')
  const segment = slash === -1 ? undefined : model.slice(0, slash)
  const kind = typeof provider === 'string' ? provider : segment
  // The segment belongs to the name if another provider serves the model: openai/gpt-oss-20b.
  return { provider: kind, upstreamModel: segment === kind ? model.slice(slash + 1) : model }
}

/** A base model may have its provider in front, as `model` has. */
export function baseModelOf(provider: unknown, name: unknown): string | undefined {
  return typeof name === 'string' ? resolveModel(provider, name).upstreamModel : undefined
}

/** The parameters that say with which account, and at which address, a provider is called: a named credential may hold
 *  these. */
const accountParams = () => ({
  api_key: headerSecret().optional().describe("The provider's key (a service account's JSON for vertex)."),
  api_base: baseAddress().optional().describe("The provider's base address, where it is not the usual one."),
  project: headerText().optional().describe("The provider's project."),
  organization: headerText().optional().describe("The provider's organization."),
  headers: headers().optional().describe('Headers added to each upstream call.'),
  aws_access_key_id: headerText().optional().describe('The id of the AWS access key.'),
  aws_secret_access_key: secretText().optional().describe('The secret of the AWS access key.'),
  aws_session_token: headerSecret().optional().describe('The token of a temporary AWS access key.'),
})

/** The parameters that a deployment leaves to its credential. */
export const CREDENTIAL_SECRETS = [
  'api_key',
  'aws_access_key_id',
  'aws_secret_access_key',
  'aws_session_token',
] as const satisfies readonly (keyof ReturnType<typeof accountParams>)[]

function requireBothHalves(
  params: { readonly aws_access_key_id?: unknown; readonly aws_secret_access_key?: unknown },
  context: z.core.$RefinementCtx,
): void {
  if ((params.aws_access_key_id === undefined) === (params.aws_secret_access_key === undefined)) return
  const path = [params.aws_access_key_id === undefined ? 'aws_access_key_id' : 'aws_secret_access_key']
  context.addIssue({ code: 'custom', path, message: 'is required beside the other half of the AWS key' })
}

/** What deployments of one provider share by name. */
export const credentialEntry = (providers: Registered<RegisteredProvider>) =>
  section({
    name: name().describe('What deployments call it in `gateway_params.credential`.'),
    provider: z.enum([...providers.keys()]).describe('The kind of provider that it is for.'),
    gateway_params: section(accountParams())
      .superRefine(requireBothHalves, evenIfBroken)
      .describe('What each deployment gets that names it.'),
  })

export const gatewayParams = (providers: Registered<RegisteredProvider>) =>
  section({
    provider: z
      .enum([...providers.keys()])
      .optional()
      .describe('The kind of upstream; default: the first segment of model.'),
    model: text().describe("<provider>/<model>: the kind of upstream and the provider's own name of the model."),
    base_model: text()
      .optional()
      .describe(
        "The vendor's name of the model, where `model` does not tell it: prices and what the model takes are known by it.",
      ),
    credential: name()
      .optional()
      .describe('The named credential (`/ui/api/credentials`) that it uses instead of secrets of its own.'),
    ...accountParams(),
    api_version: headerText().optional().describe('The version that the provider expects in the address or a header.'),
    timeout: positiveSeconds()
      .optional()
      .describe('Seconds that an attempt may take here, instead of the timeout of router_settings or a policy.'),
    region: region().optional().describe("The provider's region."),
    allow_cloud_objects: flag()
      .optional()
      .describe(
        "Whether requests may name what the provider reads with this deployment's credentials: objects of S3 and Cloud Storage, uploaded files by their address, data sources.",
      ),
    strict: flag()
      .optional()
      .describe(
        'Whether hints of a request that this provider does not know (caching, storage, telemetry, …) are refused instead of left out.',
      ),
    aws_region_name: region().optional().describe('Another name for region, with bedrock.'),
  })
    .superRefine((params, context) => {
      if (params.credential !== undefined) {
        for (const path of CREDENTIAL_SECRETS.filter((field) => params[field] !== undefined)) {
          const message = 'is what the credential gives; leave out one of the two'
          context.addIssue({ code: 'custom', path: [path], message })
        }
      }
      requireBothHalves(params, context)
      if (typeof params.model !== 'string' || params.model === '') return
      const { provider, upstreamModel } = resolveModel(params.provider, params.model)
      if (provider === undefined || (params.provider === undefined && !providers.has(provider))) {
        const message = `must have the form <provider>/<model> with a known provider${suggestion(provider, [...providers.keys()]) || ', such as openai/gpt-6-luna'}`
        context.addIssue({ code: 'custom', path: ['model'], message })
      } else if (upstreamModel === '') {
        context.addIssue({ code: 'custom', path: ['model'], message: 'names no model behind the slash' })
      } else if (
        providers.get(provider)?.needsAddress &&
        params.api_base === undefined &&
        params.credential === undefined
      ) {
        context.addIssue({
          code: 'custom',
          path: ['api_base'],
          message: `is required for ${provider}; add its address`,
        })
      }
    }, evenIfBroken)
    .transform((params) => {
      const { provider, upstreamModel } = resolveModel(params.provider, params.model)
      const base_model = baseModelOf(provider, params.base_model)
      return { ...params, base_model, provider: provider as string, upstream_model: upstreamModel }
    })

const limit = (unit: string) => count().optional().describe(`${unit} that this deployment accepts in a minute.`)

export const modelInfo = lazily(() =>
  section({
    mode: z
      .enum(MODEL_MODES)
      .optional()
      .describe('The kind of requests of this deployment; default: all that its provider can serve.'),
    weight: z.number().min(0).default(1).describe('Share of the traffic under weighted and tag-based-routing.'),
    priority: count().default(0).describe('Lower numbers are tried first under priority-based-routing.'),
    tags: z.array(text()).default([]).describe('Tags that a request can ask for in metadata.tags.'),
    access_groups: z.array(text()).default([]).describe('Labels by which callers can be given access to this model.'),
    owned_by: text().optional().describe('The owner shown in the list of models.'),
    rpm_limit: limit('Requests'),
    tpm_limit: limit('Tokens'),
    image_pm_limit: limit('Images'),
    audio_seconds_pm_limit: limit('Seconds of audio'),
    char_pm_limit: limit('Characters'),
    rerank_units_pm_limit: limit('Rerank units'),
    max_input_tokens: positiveCount()
      .optional()
      .describe(
        'The longest input of its model in tokens, the most that budgets hold for (of embeddings, for each input); default: what the body may amount to.',
      ),
    max_output_tokens: positiveCount()
      .optional()
      .describe(
        'The longest answer of its model in tokens: a larger limit of a request is lowered to it and named in `x-gateway-dropped`, and budgets hold it for a call without a limit; default: none, and 4,096 for budgets.',
      ),
    default_params: z
      .record(z.string(), z.unknown())
      .default({})
      .describe('Request fields with defaults for clients that omit them, such as voice_id.'),
    supports_assistant_prefix: flag()
      .default(false)
      .describe('The provider continues a last assistant message, so a cut answer can be resumed here.'),
    allow_routing_fields: z
      .union([z.boolean(), z.array(text())])
      .default(false)
      .describe(
        "Whether requests may choose models and hosts by the provider's own fields, such as models or provider; true, or a list of such fields. Else they are refused to restricted keys and left out for others.",
      ),
    allow_foreign_ids: z
      .union([z.boolean(), z.array(text())])
      .default(false)
      .describe(
        "Whether requests may name what the provider's account holds but no call of this gateway made: files, vector stores, prompts, conversations; true for everything, or a list of ids that are open to everybody.",
      ),
    ...pricing(),
  }),
)

/** One entry of `model_list`: a deployment of a public model name. */
export const modelEntry = (params: ReturnType<typeof gatewayParams>, providers: Registered<RegisteredProvider>) =>
  section({
    model_name: name().describe('The public model name; entries that share it form one routable group.'),
    deployment_id: name().optional().describe('Identifies the deployment; default: <model_name>-<n>, counted from 1.'),
    gateway_params: params.describe('Where the deployment is and how it is called.'),
    model_info: modelInfo().prefault({}).describe('Capacity, prices and routing metadata.'),
  }).superRefine(({ gateway_params: { provider }, model_info: { mode } }, context) => {
    const modes = modesOf(providers.get(provider))
    if (mode === undefined || modes.includes(mode)) return
    const message = `is no kind of request that ${provider} takes; choose one of ${modes.join(', ')}`
    context.addIssue({ code: 'custom', path: ['model_info', 'mode'], message })
  })

/** What chat can do answers completions too. */
function modesOf(provider: RegisteredProvider | undefined) {
  const { adapters = {} } = provider ?? {}
  return MODEL_MODES.filter((mode) => adapters[mode] ?? (mode === 'completion' && adapters.chat))
}

/** The ids in the order of the list, `<model_name>-<n>` by default; undefined for an entry without a name. */
function deploymentIds(entries: readonly unknown[]): (string | undefined)[] {
  const seen = new Map<string, number>()
  return entries.map((entry) => {
    if (!isMap(entry) || typeof entry.model_name !== 'string') return undefined
    const number = (seen.get(entry.model_name) ?? 0) + 1
    seen.set(entry.model_name, number)
    return typeof entry.deployment_id === 'string' ? entry.deployment_id : `${entry.model_name}-${number}`
  })
}

export const modelList = (entry: ReturnType<typeof modelEntry>) =>
  z
    .array(entry)
    .superRefine(
      (entries, context) => {
        const first = new Map<string, number>()
        for (const [index, id] of deploymentIds(entries).entries()) {
          if (id === undefined) continue
          const earlier = first.get(id)
          if (earlier === undefined) first.set(id, index)
          else {
            const message = `is the same as that of model_list[${earlier}]; give each deployment its own`
            context.addIssue({ code: 'custom', path: [index, 'deployment_id'], message })
          }
        }
      },
      { when: ({ value }) => Array.isArray(value) },
    )
    .transform((entries) => {
      const ids = deploymentIds(entries)
      return entries.map((entry, index) => ({ ...entry, deployment_id: ids[index] as string }))
    })

export type ModelEntry = z.output<ReturnType<typeof modelList>>[number]
export type GatewayParams = z.output<ReturnType<typeof gatewayParams>>
export type ModelInfo = z.output<ReturnType<typeof modelInfo>>
export type CredentialEntry = z.output<ReturnType<typeof credentialEntry>>
