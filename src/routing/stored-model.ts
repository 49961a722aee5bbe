import { accepted, mistake } from '../config/accepted.ts'
import { isMap } from '../config/fields.ts'
import type { ModelEntry } from '../config/sections/model-list.ts'
import type { Seal } from '../lib/seal.ts'
import type { ModelContent, ModelRecord } from '../stores/sql/records/model-records.ts'
import { modelEntry } from './configuration.ts'

/** What stands in the place of a stored secret. Sent back, it means the one that is stored. */
export const MASK = '[secret]'

const SECRET_FIELDS = ['api_key', 'aws_secret_access_key', 'aws_session_token']

type Fields = Record<string, unknown>

/** A deployment as it was sent: the sections of an entry of the configuration file. */
export interface ModelDraft {
  readonly model_name?: unknown
  readonly gateway_params?: unknown
  readonly model_info?: unknown
}

/** The entry that a record means, with its secrets. Throws when it cannot be one, here and today. */
export async function entryOf(record: ModelRecord, seal: Seal): Promise<ModelEntry> {
  const gateway_params = unmasked(record.gateway_params, await secretsOf(record, seal))
  const { deployment_id, model_name, model_info } = record
  return { ...accepted(modelEntry(), { model_name, gateway_params, model_info }), deployment_id }
}

/** What a draft is checked by, and kept under. */
interface Means {
  readonly seal: Seal
  /** Throws what keeps an entry from being a deployment here. */
  readonly live: { check(entry: ModelEntry): void }
}

/** A draft as the database keeps it, or the refusal of its first mistake. Masks in it stand for secrets of `earlier`,
 *  which never leave for another address than the one that they were given for. */
export async function contentOf(
  id: string,
  draft: ModelDraft,
  { seal, live }: Means,
  earlier?: ModelRecord,
): Promise<ModelContent> {
  const params = isMap(draft.gateway_params) ? draft.gateway_params : {}
  refuseReferences(draft, '')
  const kept = maskedPaths(params)
  // Under another salt key nothing opens: then the secrets are as good as gone, and have to be sent again.
  const none = new Map<string, string>()
  const stored = earlier && kept.length > 0 ? await secretsOf(earlier, seal).catch(() => none) : none
  for (const path of kept) {
    const field = `gateway_params.${path}`
    if (!stored.has(path))
      throw mistake(field, 'is the mask of a stored secret, and there is none that opens; send the secret')
    if (earlier && addressOf(params) !== addressOf(earlier.gateway_params)) {
      throw mistake(field, 'is stored for another provider or address; send it again with the new one, or null')
    }
  }
  const whole = unmasked(params, stored)
  const entry = accepted(modelEntry(), {
    ...draft,
    gateway_params: isMap(draft.gateway_params) ? whole : draft.gateway_params,
  })
  try {
    live.check({ ...entry, deployment_id: id })
  } catch (error) {
    throw error instanceof TypeError ? mistake('gateway_params', error.message) : error
  }
  const secrets = Object.fromEntries(secretPaths(whole).map(([path, text]) => [path, text]))
  return {
    model_name: entry.model_name,
    gateway_params: masked(whole),
    model_info: isMap(draft.model_info) ? draft.model_info : {},
    sealed: await seal.close(JSON.stringify(secrets), placeOf(id, whole)),
  }
}

/** Who writes records may not read the environment of the process by them. */
function refuseReferences(value: unknown, path: string): void {
  if (typeof value === 'string' && value.startsWith('os.environ/')) {
    throw mistake(path, 'refers to the environment, which only the configuration file can; send the value')
  }
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) refuseReferences(member, path === '' ? key : `${path}.${key}`)
}

async function secretsOf(record: ModelRecord, seal: Seal): Promise<Map<string, string>> {
  const text = await seal.open(record.sealed, placeOf(record.deployment_id, record.gateway_params))
  return new Map(Object.entries(JSON.parse(text) as Record<string, string>))
}

/** Secrets of a record open for this record and this address only. */
function placeOf(id: string, params: Fields): string {
  return JSON.stringify(['gateway_model', id, addressOf(params)])
}

function addressOf({ provider, model, api_base }: Fields): string {
  const kind = typeof provider === 'string' ? provider : String(model).split('/')[0]
  const origin = typeof api_base === 'string' ? (URL.parse(api_base)?.origin ?? api_base) : ''
  return JSON.stringify([kind, origin])
}

/** `api_key`, `headers.x-api-key`, … with their text. */
function secretPaths(params: Fields): [string, string][] {
  const headers = isMap(params.headers) ? params.headers : {}
  const all = [
    ...SECRET_FIELDS.map((field) => [field, params[field]] as const),
    ...Object.entries(headers).map(([name, value]) => [`headers.${name}`, value] as const),
  ]
  return all.filter((entry): entry is [string, string] => typeof entry[1] === 'string')
}

function maskedPaths(params: Fields): string[] {
  return secretPaths(params)
    .filter(([, text]) => text === MASK)
    .map(([path]) => path)
}

function masked(params: Fields): Fields {
  return mapSecrets(params, () => MASK)
}

function unmasked(params: Fields, secrets: ReadonlyMap<string, string>): Fields {
  return mapSecrets(params, (path, text) => (text === MASK ? (secrets.get(path) ?? text) : text))
}

function mapSecrets(params: Fields, replace: (path: string, text: string) => string): Fields {
  const replaced = new Map(secretPaths(params).map(([path, text]) => [path, replace(path, text)]))
  const members = Object.entries(params).map(([key, value]): [string, unknown] => {
    if (key !== 'headers' || !isMap(value)) return [key, replaced.get(key) ?? value]
    const headers = Object.entries(value).map(([name, text]) => [name, replaced.get(`headers.${name}`) ?? text])
    return [key, Object.fromEntries(headers)]
  })
  return Object.fromEntries(members)
}
