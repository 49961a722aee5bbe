import { parseList } from '../../lib/json/lenient.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import { providerIdKey } from '../../stores/kv/keys.ts'
import type { Endpoint } from '../endpoint.ts'
import type { PipelineServices } from '../services.ts'
import { type NamedId, namedIds } from './named-ids.ts'

/** The tenant that owns an object and the deployment that holds it. */
export interface Owner {
  readonly tenant: string
  readonly deployment: string
}

/** An id in a request, with its owner. */
export interface KnownId extends NamedId {
  /** null if the store could not be asked. */
  readonly owner: Owner | undefined | null
}

/** The ids of a request. */
export type KnownIds = readonly KnownId[]

/** No provider's ids are longer. Asking the store for megabytes would look like an outage. */
export const LONGEST_ID = 512

/** For objects that the conversation repeats in full, the newest ids suffice. */
const MOST_HINTS = 32

/** Looks up the owners of all ids in a request in one round trip; undefined if it has none. Throws `invalid_request` if
 *  the request turns out to be malformed. */
export function knownIds(
  services: PipelineServices,
  { dialect, ids = dialect?.ids }: Endpoint,
  request: ModelRequest,
): Promise<KnownIds> | undefined {
  const named = ids ? namedIds(request, ids) : NO_IDS
  return named.length === 0 ? undefined : withOwners(services, named)
}

const NO_IDS: readonly NamedId[] = []

async function withOwners({ store }: PipelineServices, named: readonly NamedId[]): Promise<KnownIds> {
  const asked = new Set(
    [...named.filter(({ standing }) => standing !== 'hint'), ...named.filter(isHint).slice(-MOST_HINTS)]
      .map(({ id }) => id)
      .filter((id) => id.length <= LONGEST_ID),
  )
  const list = [...asked]
  const owners = new Map<string, KnownId['owner']>()
  for (const [index, text] of (await store.getAll(list.map(providerIdKey))).entries()) {
    owners.set(list[index] as string, text === null ? null : ownerIn(text))
  }
  return named.map((one) => ({ ...one, owner: owners.get(one.id) }))
}

const isHint = ({ standing }: NamedId) => standing === 'hint'

/** The stored form of an owner. */
export const ownerText = ({ tenant, deployment }: Owner): string => JSON.stringify([tenant, deployment])

function ownerIn(text: string | undefined): Owner | undefined {
  const [tenant, deployment] = text === undefined ? [] : parseList(text)
  return typeof tenant === 'string' && typeof deployment === 'string' ? { tenant, deployment } : undefined
}
