import { parseList } from '../../lib/json/lenient.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import { providerIdKey } from '../../stores/kv/keys.ts'
import type { Endpoint } from '../endpoint.ts'
import type { PipelineServices } from '../services.ts'
import { type NamedId, namedIds } from './named-ids.ts'

/** Whose an id is, and where what it names is kept. */
export interface Owner {
  readonly tenant: string
  readonly deployment: string
}

/** An id of a request, with what is known of it. */
export interface KnownId extends NamedId {
  /** null where the store cannot tell. */
  readonly owner: Owner | undefined | null
}

/** The ids of a request. */
export type KnownIds = readonly KnownId[]

/** No provider's ids are longer; a store that is asked for megabytes would seem to be down. */
export const LONGEST_ID = 512

/** Of what a conversation says in full the newest tell enough. */
const MOST_HINTS = 32

/** Looks up whose the ids are that a request names, all in one round trip; undefined where it names none. Throws
 *  `invalid_request` where the request turns out to be none. */
export async function knownIds(
  { store }: PipelineServices,
  { dialect, ids = dialect?.ids }: Endpoint,
  request: ModelRequest,
): Promise<KnownIds | undefined> {
  const named = ids ? namedIds(request, ids) : []
  if (named.length === 0) return undefined
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

/** An owner as it is stored. */
export const ownerText = ({ tenant, deployment }: Owner): string => JSON.stringify([tenant, deployment])

function ownerIn(text: string | undefined): Owner | undefined {
  const [tenant, deployment] = text === undefined ? [] : parseList(text)
  return typeof tenant === 'string' && typeof deployment === 'string' ? { tenant, deployment } : undefined
}
