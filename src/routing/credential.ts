import { mistake } from '../config/accepted.ts'
import {
  CREDENTIAL_SECRETS,
  type CredentialEntry,
  type GatewayParams,
  type ModelEntry,
} from '../config/sections/model-list.ts'
import { providers } from '../providers/index.ts'
import type { ParameterName, Provider } from '../providers/provider.ts'

/** What a credential may hold for any provider. */
const FOR_ALL = ['api_base', 'headers', 'organization'] as const satisfies readonly ParameterName[]
const HELD: readonly ParameterName[] = [...FOR_ALL, ...CREDENTIAL_SECRETS, 'project']

/** Whether a credential for this provider may hold a parameter: those that say with which account, and at which
 *  address, the provider is called. */
export function isHeldByCredentials({ kind, profile }: Provider, name: ParameterName): boolean {
  if (kind === 'echo') return name === 'api_key'
  const read = new Set([...FOR_ALL, ...profile.credentials.flat(), ...Object.keys(profile.parameters ?? {})])
  return HELD.includes(name) && read.has(name)
}

/** Throws if a credential has what its provider does not read, or lacks what it asks for. */
export function checkCredential({ provider: kind, gateway_params: params }: CredentialEntry): void {
  const provider = providers.get(kind) as Provider
  for (const name of Object.keys(params) as (keyof typeof params)[]) {
    if (!isHeldByCredentials(provider, name)) throw mistake(`gateway_params.${name}`, `is nothing that ${kind} reads`)
  }
  if (provider.needsAddress && params.api_base === undefined) {
    throw mistake(
      'gateway_params.api_base',
      `is required for ${kind}, whose addresses differ; its secrets go there alone`,
    )
  }
  const { credentials: sets } = provider.profile
  const isEnough = sets.length === 0 || sets.some((set) => set.every((name) => name in params))
  if (isEnough || Object.keys(params.headers ?? {}).length > 0) return
  const [first = []] = sets
  throw mistake(
    `gateway_params.${first[0]}`,
    `is missing: ${kind} needs ${sets.map((set) => set.join(' with ')).join(', or ')}`,
  )
}

const NAMED = 'gateway_params.credential'

/** A deployment with what its credential gives it; its own parameters win. Throws a refusal if it names none that there
 *  is, or one for another provider or address: the secrets of a credential go to its address alone, and those of a
 *  deployment to no address that it does not name itself. */
export function withCredential(entry: ModelEntry, credential: CredentialEntry | undefined): ModelEntry {
  const { credential: name, ...own } = entry.gateway_params
  if (name === undefined) return entry
  if (!credential) throw mistake(NAMED, `names '${name}', and there is no such credential`)
  const { provider, gateway_params: given } = credential
  if (provider !== own.provider) {
    throw mistake(NAMED, `'${name}' is for ${provider}, and the provider of this deployment is ${own.provider}`)
  }
  const hasHeaders = Object.keys(own.headers ?? {}).length > 0
  if (own.api_base !== undefined && originOf(own) !== originOf(given)) {
    const place = given.api_base === undefined ? `the usual address of ${provider}` : 'another address'
    throw mistake('gateway_params.api_base', `is not where the credential '${name}' is for, which is ${place}`)
  }
  if (own.api_base === undefined && given.api_base !== undefined && hasHeaders) {
    const message = `must be named beside headers of the deployment's own, as the credential '${name}' has it`
    throw mistake('gateway_params.api_base', message)
  }
  return { ...entry, gateway_params: { ...given, ...own, ...headersOf(given, own) } }
}

function originOf({ api_base }: Pick<GatewayParams, 'api_base'>): string | undefined {
  return api_base === undefined ? undefined : URL.parse(api_base)?.origin
}

function headersOf(given: Pick<GatewayParams, 'headers'>, own: GatewayParams): Pick<GatewayParams, 'headers'> {
  if (!given.headers || !own.headers) return {}
  const byName = [given.headers, own.headers].flatMap((headers) =>
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const),
  )
  return { headers: Object.fromEntries(byName) }
}
