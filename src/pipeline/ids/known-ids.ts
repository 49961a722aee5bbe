import { parseList } from '../../lib/json/lenient.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import { type Key, providerIdKey, responseKey } from '../../stores/kv/keys.ts'
import type { Tenant } from '../caller.ts'
import type { Endpoint } from '../endpoint.ts'
import type { KeptConversation } from '../memory/conversation.ts'
import type { PipelineServices } from '../services.ts'
import { type NamedId, namedIds } from './named-ids.ts'

/** The tenant that owns an object, by its name, and the deployment that holds it. */
export interface IdOwner {
  /** '' if it was a tenant of the caller's name in another organization. */
  readonly tenant: string
  readonly deployment: string
}

/** An id in a request, with its owner. */
export interface KnownId extends NamedId {
  /** null if the store could not be asked. */
  readonly owner: IdOwner | undefined | null
  /** The stored text of the kept answer that it names, or that has the part which it names; null if the store could not be
   *  asked. */
  readonly kept?: string | null | undefined
}

/** The ids of a request. */
export type KnownIds = readonly KnownId[]

/** No provider's ids are longer. Asking the store for megabytes would look like an outage. */
export const LONGEST_ID = 512

/** For objects that the conversation repeats in full, the newest ids suffice. */
const MOST_HINTS = 32

/** Conversations are long: a request continues one, and refers to items of a few. */
const MOST_KEPT = 16

/** Looks up the owners of all ids in a request in one round trip; undefined if it has none. Throws `invalid_request` if
 *  the request turns out to be malformed. */
export function knownIds(
  services: PipelineServices,
  { dialect, ids = dialect?.ids }: Endpoint,
  request: ModelRequest,
  tenant: Tenant = NOBODY,
): Promise<KnownIds> | undefined {
  const named = ids ? namedIds(request, ids) : NO_IDS
  return named.length === 0 ? undefined : withOwners(services, named, tenant, keptBy(services, dialect?.memory, tenant))
}

/** The key under which the gateway may keep what an id names; undefined for an id of another form. */
function keptBy({ responses }: PipelineServices, memory: KeptConversation | undefined, tenant: Tenant) {
  if (!memory || responses.retentionSeconds === undefined) return () => undefined
  return ({ id, standing }: NamedId): Key | undefined => {
    const answerId = standing === 'reference' ? memory.answerIdOf(id) : undefined
    return answerId === undefined ? undefined : responseKey(tenant.name, answerId)
  }
}

const NOBODY: Tenant = { name: '', organization: '' }
const NO_IDS: readonly NamedId[] = []

async function withOwners(
  { store }: PipelineServices,
  named: readonly NamedId[],
  tenant: Tenant,
  keptKey: (one: NamedId) => Key | undefined,
): Promise<KnownIds> {
  const asked = new Set(
    [...named.filter(({ standing }) => standing !== 'hint'), ...named.filter(isHint).slice(-MOST_HINTS)]
      .map(({ id }) => id)
      .filter((id) => id.length <= LONGEST_ID),
  )
  const list = [...asked]
  const keptKeys = new Set(named.flatMap((one) => keptKey(one) ?? []).slice(0, MOST_KEPT))
  const texts = await store.getAll([...list.map(providerIdKey), ...keptKeys])
  const owners = new Map(
    list.map((id, index) => {
      const text = texts[index]
      return [id, text === null ? null : ownerIn(text, tenant)]
    }),
  )
  const kept = new Map([...keptKeys].map((key, index) => [key, texts[list.length + index]]))
  return named.map((one) => {
    const key = keptKey(one)
    const found = key && kept.get(key)
    const known = { ...one, owner: owners.get(one.id) }
    return found === undefined ? known : { ...known, kept: found }
  })
}

const isHint = ({ standing }: NamedId) => standing === 'hint'

/** The stored form of an owner. */
export const ownerText = ({ name, organization }: Tenant, deployment: string): string =>
  JSON.stringify([name, deployment, organization])

/** Earlier builds, which may run beside this one, note no organization. */
function ownerIn(text: string | undefined, asking: Tenant): IdOwner | undefined {
  const [name, deployment, organization = asking.organization] = text === undefined ? [] : parseList(text)
  if (typeof name !== 'string' || typeof deployment !== 'string') return undefined
  return { tenant: name === asking.name && organization !== asking.organization ? '' : name, deployment }
}
