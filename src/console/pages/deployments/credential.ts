import type { Row } from '../../data/client.ts'
import { MASK, type ProviderKind } from './deployment.ts'
import { type Draft, headerLines } from './draft.ts'

export type Credential = Row<'GET /ui/api/credentials'>

export const AFTER_CREDENTIAL = { refreshes: ['/ui/api/credentials', '/ui/api/models', '/health'] } as const

/** What a credential of this provider may hold: what most need first. */
export const heldFields = (kind: ProviderKind | undefined): ProviderKind['fields'] =>
  (kind?.fields ?? [])
    .filter((field) => field.in_credentials)
    .toSorted((one, other) => Number(other.secret && other.type === 'text') - Number(one.secret && one.type === 'text'))

/** A credential as its form shows it. Secrets are never in it. */
export function draftOfCredential(credential: Credential | undefined): Draft {
  const { gateway_params: params = {} } = credential ?? {}
  return {
    ...Object.fromEntries(Object.entries(params).filter(([, value]) => value !== MASK)),
    headers: headerLines(params.headers),
    name: credential?.name ?? '',
    kind: credential?.provider ?? null,
  }
}
