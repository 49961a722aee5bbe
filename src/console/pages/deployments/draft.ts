import { ApiError, type Input } from '../../data/client.ts'
import { type Deployment, MASK, PRICES, type ProviderKind, scaled, upstreamOf } from './deployment.ts'

/** What is typed into the form of a deployment: settings of the connection and of the model side by side, as no name is in
 *  both. Prices are by the units of the form, lists and headers are lines of text. */
export type Draft = Readonly<Record<string, unknown>>
type Settings = Readonly<Record<string, unknown>>
type Body = NonNullable<Input<'POST /ui/api/models/test'>['body']>

const NUMBERS = [
  'weight',
  'priority',
  'rpm_limit',
  'tpm_limit',
  'image_pm_limit',
  'audio_seconds_pm_limit',
  'char_pm_limit',
  'rerank_units_pm_limit',
  'max_input_tokens',
  'max_output_tokens',
] as const
const LISTS = ['tags', 'access_groups'] as const
/** Kept in `model_info`, each by its own name. */
const INFO_NAMES = ['mode', 'owned_by', ...NUMBERS, ...LISTS, ...PRICES.map(({ name }) => name)]

/** A deployment as the form shows it; without one, an empty form. Secrets are never in it. */
export function draftOf(deployment: Deployment | undefined): Draft {
  const { gateway_params: params = {}, model_info: info = {} } = deployment ?? {}
  const { kind, model } = deployment ? upstreamOf(deployment) : { kind: '', model: '' }
  const settings = Object.fromEntries(
    Object.entries(params).filter(([name, value]) => !['provider', 'model'].includes(name) && value !== MASK),
  )
  return {
    ...settings,
    headers: headerLines(params.headers),
    credential: params.credential ?? null,
    kind,
    model,
    model_name: deployment?.model_name ?? '',
    deployment_id: deployment?.deployment_id ?? '',
    mode: info.mode ?? null,
    owned_by: info.owned_by ?? null,
    ...Object.fromEntries(NUMBERS.map((name) => [name, info[name] ?? null])),
    ...Object.fromEntries(LISTS.map((name) => [name, (Array.isArray(info[name]) ? info[name] : []).join(', ')])),
    ...Object.fromEntries(
      PRICES.map(({ name, per }) => [name, typeof info[name] === 'number' ? scaled(info[name], per) : null]),
    ),
  }
}

/** A deployment to begin another with: its secrets are only known to the one that has them. */
export function withoutSecrets(deployment: Deployment): Deployment {
  const { headers, ...params } = deployment.gateway_params
  const own = Object.entries(isMap(headers) ? headers : {}).filter(([, value]) => value !== MASK)
  const gateway_params = {
    ...Object.fromEntries(Object.entries(params).filter(([, value]) => value !== MASK)),
    ...(own.length > 0 && { headers: Object.fromEntries(own) }),
  }
  return { ...deployment, gateway_params }
}

/** The sections of a deployment that a draft means. What the form does not show stays as it was. */
export function sectionsOf(
  draft: Draft,
  kind: ProviderKind | undefined,
  before?: Deployment,
): { readonly model_name: string; readonly gateway_params: Settings; readonly model_info: Settings } {
  const start = draftOf(before)
  const changed = (name: string) => JSON.stringify(draft[name]) !== JSON.stringify(start[name])
  const params: Record<string, unknown> = { ...before?.gateway_params }
  if (!before || changed('model')) {
    delete params.provider
    params.model = `${draft.kind}/${String(draft.model).trim()}`
  }
  for (const field of kind?.fields ?? []) {
    if (isLeftToCredential(draft, field)) delete params[field.name]
    else if (changed(field.name)) put(params, field, draft[field.name])
  }
  if (isNothing(draft.credential)) delete params.credential
  else params.credential = draft.credential
  const info: Record<string, unknown> = { ...before?.model_info }
  for (const name of INFO_NAMES) {
    if (!changed(name)) continue
    const value = infoOf(name, draft[name])
    if (isNothing(value)) delete info[name]
    else info[name] = value
  }
  return { model_name: String(draft.model_name).trim(), gateway_params: params, model_info: info }
}

type Field = Pick<ProviderKind['fields'][number], 'name' | 'type' | 'secret' | 'in_credentials'>

/** What a deployment has of the credential that it names, and not of its own. */
export const isLeftToCredential = (draft: Draft, { name, in_credentials }: Field): boolean =>
  !isNothing(draft.credential) && in_credentials && name !== 'organization' && name !== 'project'

/** What is typed into a field, as a parameter. A secret is replaced, or stays: an empty field is no replacement. */
function put(params: Record<string, unknown>, { name, type, secret }: Field, typed: unknown): void {
  if (secret && type === 'text' && isNothing(typed)) return
  const value = type === 'map' ? headersOf(String(typed)) : typed
  if (isNothing(value)) delete params[name]
  else params[name] = typeof value === 'string' ? value.trim() : value
}

/** The parameters of a credential that were typed, and null for those that were emptied. */
export function typedParams(changes: Draft, fields: readonly Field[]): Record<string, unknown> {
  const params: Record<string, unknown> = {}
  for (const field of fields.filter(({ name }) => name in changes)) {
    put(params, field, changes[field.name])
    if (!(field.name in params) && !(field.secret && field.type === 'text')) params[field.name] = null
  }
  return params
}

/** A patch that makes the one of the other: what is new or other, and null for what is gone. */
export function patchOf(before: Settings, after: Settings): Record<string, unknown> | undefined {
  const patch: Record<string, unknown> = {}
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [before[name], after[name]]
    if (JSON.stringify(old) === JSON.stringify(now)) continue
    patch[name] = isMap(old) && isMap(now) ? patchOf(old, now) : (now ?? null)
  }
  return Object.keys(patch).length > 0 ? patch : undefined
}

/** The body of a test or of a new deployment. */
export function bodyOf(draft: Draft, kind: ProviderKind | undefined, before?: Deployment): Body {
  const id = String(draft.deployment_id).trim()
  return { ...sectionsOf(draft, kind, before), ...(id && { deployment_id: id }) } as Body
}

/** A refusal names a field of its section: `gateway_params.api_base`. The form knows it without. */
export function atField(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.param === undefined) return error
  const param = error.param.replace(/^(gateway_params|model_info)\./, '')
  const { status, code, requestId } = error
  return new ApiError(error.message.replace(error.param, labelOf(param)), { status, code, requestId, param })
}

const LABELS: Readonly<Record<string, string>> = {
  api_key: 'API key',
  api_base: 'Address',
  api_version: 'API version',
  timeout: 'Timeout',
  strict: 'Refuse hints that this provider does not know',
  allow_cloud_objects: 'Requests may name objects of the cloud account',
  aws_access_key_id: 'AWS access key id',
  aws_secret_access_key: 'AWS secret access key',
  aws_session_token: 'AWS session token',
}

/** What a setting is called. */
export const labelOf = (name: string): string =>
  LABELS[name] ?? (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll('_', ' ')

function infoOf(name: string, value: unknown): unknown {
  const price = PRICES.find((one) => one.name === name)
  if (price) return typeof value === 'number' ? scaled(value, 1 / price.per) : undefined
  if ((LISTS as readonly string[]).includes(name)) {
    const items = String(value)
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean)
    return items.length > 0 ? items : undefined
  }
  return value
}

export const headerLines = (headers: unknown): string =>
  isMap(headers)
    ? Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n')
    : ''

function headersOf(lines: string): Record<string, string> | undefined {
  const pairs = lines
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const colon = line.indexOf(':')
      return colon < 0 ? [line.trim(), ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
    })
  return pairs.length > 0 ? Object.fromEntries(pairs) : undefined
}

const isMap = (value: unknown): value is Settings =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isNothing = (value: unknown) => value === undefined || value === null || value === ''
