import { api } from './client.ts'
import { queries } from './query.ts'
import type { Permission } from './session.ts'

interface Found {
  readonly value: string
  readonly label: string
  readonly note?: string | undefined
}

/** Finds things of the gateway by what is typed, and the name of one by its id. */
export interface Lookup {
  /** The permission that the lookup needs, anywhere. */
  readonly needs?: Permission
  search(text: string): Promise<readonly Found[]>
  name(id: string): Promise<string>
}

const MOST = 20

/** Remembered for a while: names are asked for again and again. */
const remembered = <Value>(key: readonly unknown[], ask: () => Promise<Value>): Promise<Value> =>
  queries.fetchQuery({ queryKey: ['lookup', ...key], queryFn: ask, staleTime: 60_000, retry: false })

function lookup(
  kind: string,
  needs: Permission,
  search: (text: string) => Promise<readonly Found[]>,
  name: (id: string) => Promise<string>,
): Lookup {
  return {
    needs,
    search: (text) => remembered([kind, 'search', text], () => search(text)),
    // A record that was removed or may not be read is shown by its id.
    name: (id) => remembered([kind, id], () => name(id).catch(() => id)),
  }
}

const found = (value: string, name: string | null): Found =>
  name ? { value, label: name, note: value } : { value, label: value }

export const lookups = {
  team: lookup(
    'team',
    'team.read',
    async (search) =>
      (await api('GET /ui/api/teams', { query: { search, limit: MOST } })).data.map((one) =>
        found(one.team_id, one.team_name),
      ),
    async (id) => (await api('GET /ui/api/teams/{team_id}', { params: { team_id: id } })).team_name ?? id,
  ),
  organization: lookup(
    'organization',
    'org.read',
    async (search) =>
      (await api('GET /ui/api/organizations', { query: { search, limit: MOST } })).data.map((one) =>
        found(one.organization_id, one.organization_name),
      ),
    async (id) =>
      (await api('GET /ui/api/organizations/{organization_id}', { params: { organization_id: id } }))
        .organization_name ?? id,
  ),
  user: lookup(
    'user',
    'user.read',
    async (search) =>
      (await api('GET /ui/api/users', { query: { search, limit: MOST } })).data.map((one) =>
        found(one.user_id, one.user_email),
      ),
    async (id) => (await api('GET /ui/api/users/{user_id}', { params: { user_id: id } })).user_email ?? id,
  ),
  key: lookup(
    'key',
    'key.read',
    async (search) =>
      (await api('GET /ui/api/keys', { query: { search, limit: MOST } })).data.map((one) =>
        found(one.key_id, one.key_name),
      ),
    async (id) => (await api('GET /ui/api/keys/{key_id}', { params: { key_id: id } })).key_name ?? id,
  ),
} satisfies Record<string, Lookup>
