import { sql } from 'kysely'
import { contentKey, newBatchId } from '../../../src/batch/batch-ids.ts'
import { queries, rowsOf } from '../../../src/stores/sql/query.ts'
import type { CallFinished } from '../../../src/telemetry/events.ts'
import { ledger } from '../../../src/telemetry/ledger.ts'
import { type AdminAnswer, adminApi } from '../../support/admin-api.ts'
import { plantFile } from '../../support/batches.ts'
import { finishedCall } from '../../support/finished-calls.ts'
import type { FullGateway } from '../../support/full-gateway.node.ts'
import { MASTER_KEY } from '../../support/gateway.ts'
import { type Person, type SignedIn, signedIn } from '../../support/people.ts'

/** The columns of the matrix. Organization roles are held in acme, team roles in its team red. */
export const CALLERS = [
  'master',
  'admin',
  'owner',
  'orgadmin',
  'billing',
  'auditor',
  'member',
  'teamadmin',
  'developer',
  'viewer',
  'key',
  'nobody',
] as const
export type CallerName = (typeof CALLERS)[number]

const PEOPLE: Readonly<Partial<Record<CallerName, Person>>> = {
  admin: { role: 'platform_admin' },
  owner: { organizations: { acme: 'org_owner' } },
  orgadmin: { organizations: { acme: 'org_admin' } },
  billing: { organizations: { acme: 'org_billing' } },
  auditor: { organizations: { acme: 'org_auditor' } },
  member: { organizations: { acme: 'org_member' } },
  teamadmin: { teams: { red: 'team_admin' } },
  developer: { teams: { red: 'team_developer' } },
  viewer: { teams: { red: 'team_viewer' } },
}

/** Whose it is: the caller's team or organization, another team of that organization, another organization, nobody's, or
 *  the caller themselves. */
export const PLACES = ['own', 'sibling', 'foreign', 'absent'] as const
export type Place = (typeof PLACES)[number]
export type Ids = Readonly<Record<string, string>>

/** Every id of what is foreign has this in it, so that it can be looked for in answers. */
export const FOREIGN = 'rival'
export const SIBLING = 'blue'

const TEAMS = { own: 'red', sibling: SIBLING, foreign: `${FOREIGN}-green`, absent: 'no-team' } as const
const ORGANIZATIONS = { own: 'acme', sibling: 'acme', foreign: FOREIGN, absent: 'no-organization' } as const

/** Two organizations, with somebody and something in each of their teams. */
export interface World {
  readonly ids: Readonly<Record<Place, Ids>>
  /** Ids of the caller's own: account_id, user_id, key_id. */
  self(name: CallerName): Ids
  ask(name: CallerName, method: string, path: string, body: unknown, as?: SignedIn): Promise<AdminAnswer>
  /** Asks as the master key, which must succeed. */
  make(method: string, path: string, body?: unknown): Promise<Record<string, string>>
  /** Somebody else in the same role. */
  another(name: CallerName): Promise<SignedIn>
  /** A further person, member of what is named. */
  person(person: Person): Promise<SignedIn>
  key(place: Place, owner?: string): Promise<string>
  /** A batch that has ended, with one request that failed. */
  batch(place: Place): Promise<string>
  /** A further name for what is made now. */
  name(): string
}

export async function world(gateway: FullGateway): Promise<World> {
  const master = adminApi(() => gateway)
  let made = 0
  const name = () => `made-${++made}`
  async function make(method: string, path: string, body?: unknown): Promise<Record<string, string>> {
    const answer = await master(method, path, body)
    if (answer.status < 300) return answer.body
    throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
  }
  async function key(place: Place, owner?: string): Promise<string> {
    const { key_id } = await make('POST', '/keys', { team_id: TEAMS[place] })
    const set = sql`UPDATE gateway_key SET owner_account_id = ${owner ?? null} WHERE key_id = ${key_id}`
    await rowsOf(gateway.sql, set)
    return key_id as string
  }
  async function batch(place: Place): Promise<string> {
    const owner = { key_id: await key(place), team_id: TEAMS[place], organization_id: ORGANIZATIONS[place] }
    const file_id = await plantFile(gateway.sql, owner)
    await gateway.blobs.put(contentKey(file_id), new TextEncoder().encode('{}\n'), 'application/jsonl')
    const batch_id = newBatchId()
    const ended = { status: 'completed', completed_at: new Date().toISOString(), requests: 1, failed: 1 } as const
    const fields = { endpoint: '/v1/embeddings', input_file_id: file_id, expires_at: new Date().toISOString() }
    const row = queries.insertInto('gateway_batch').values({ batch_id, ...owner, ...fields, ...ended })
    await rowsOf(gateway.sql, row)
    return batch_id
  }
  /** A call in the ledger. */
  async function call(by: Pick<CallFinished, 'teamId' | 'organizationId' | 'userId'>): Promise<string> {
    const callId = `call-of-${by.teamId}-${++made}`
    await ledger.write(gateway.sql, [finishedCall({ ...by, callId, requestId: callId, keyId: callId })])
    return callId
  }
  const person = (who: Person) => signedIn(gateway, who)

  for (const organization_id of ['acme', FOREIGN]) await make('POST', '/organizations', { organization_id })
  for (const place of ['own', 'sibling', 'foreign'] as const) {
    const team = { team_id: TEAMS[place], organization_id: ORGANIZATIONS[place], self_service_keys_enabled: true }
    await make('POST', '/teams', team)
  }
  const absent = {
    ...{ organization_id: ORGANIZATIONS.absent, team_id: TEAMS.absent, user_id: 'no-user', key_id: 'no-key' },
    ...{
      account_id: 'no-account',
      binding_id: 'no-binding',
      batch_id: 'no-batch',
      call_id: 'no-call',
      member_id: 'no-user',
      owner_id: 'no-user',
    },
  }
  const ids: Record<Place, Ids> = { own: absent, sibling: absent, foreign: absent, absent }
  for (const place of ['own', 'sibling', 'foreign'] as const) {
    const [organization_id, team_id] = [ORGANIZATIONS[place], TEAMS[place]]
    const email = place === 'foreign' ? { email: `ann@${FOREIGN}.example.com` } : {}
    const inTeam = await person({ ...email, teams: { [team_id]: 'team_developer' } })
    const inOrganization = await person({ organizations: { [organization_id]: 'org_member' } })
    const owner = await person({ organizations: { [organization_id]: 'org_owner' } })
    const binding = { scope_type: 'team', scope_id: team_id, callable_key: 'm' }
    ids[place] = {
      ...{ organization_id, team_id, user_id: inTeam.userId, account_id: inTeam.accountId, key_id: await key(place) },
      ...{ member_id: inOrganization.userId, owner_id: owner.userId },
      binding_id: (await make('POST', '/callable-target-bindings', binding)).binding_id as string,
      batch_id: await batch(place),
      call_id: await call({ teamId: team_id, organizationId: organization_id, userId: inTeam.userId }),
    }
  }

  const people = new Map<CallerName, { readonly browser: SignedIn; readonly keyId: string; readonly callId: string }>()
  for (const [caller, roles] of Object.entries(PEOPLE)) {
    const browser = await person(roles)
    const callId = await call({ teamId: '', organizationId: '', userId: browser.userId })
    people.set(caller as CallerName, { browser, keyId: await key('own', browser.accountId), callId })
  }
  const { key: virtual } = await make('POST', '/keys', { team_id: TEAMS.own })

  const credentials: Partial<Record<CallerName, string>> = { master: MASTER_KEY, key: virtual as string }
  return {
    ids,
    self(caller) {
      const one = people.get(caller)
      if (!one) return ids.absent
      const { browser, keyId: key_id, callId: call_id } = one
      return { ...ids.own, account_id: browser.accountId, user_id: browser.userId, key_id, call_id }
    },
    async ask(caller, method, path, body, as) {
      const browser = as ?? people.get(caller)?.browser
      if (browser) return browser.ask(method, `/ui/api${path}`, body)
      const credential = credentials[caller]
      const response = await fetch(`${gateway.url}/ui/api${path}`, {
        method,
        headers: {
          'content-type': 'application/json',
          ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: await response.json() }
    },
    make,
    another: async (caller) => person(PEOPLE[caller] as Person),
    person,
    key,
    batch,
    name,
  }
}
