import type { Fields } from '../../../../api/ui/records/record-fields.ts'
import { type AdminApi, all } from '../admin-api.ts'
import { access } from './access-kind.ts'
import type { Sections } from './document.ts'
import { keys, members, organizations, teams, users } from './identity-kinds.ts'
import { inFile, type Kind, nameOf } from './kind.ts'
import { prompts } from './prompt-kind.ts'
import { credentials, mcpServers, models, policies, routeGroups } from './routing-kinds.ts'

/** Every kind of record that files hold, in the order in which they are written: what others refer to comes first. */
export const kinds: readonly Kind[] = [
  credentials,
  models,
  mcpServers,
  routeGroups,
  prompts,
  policies,
  organizations,
  users,
  teams,
  members,
  keys,
  access,
]

/** Everything of an installation that files hold, in their order. */
export async function sectionsIn(api: AdminApi): Promise<Sections> {
  const people = new Set((await all(api, '/ui/api/accounts')).map(({ user_id }) => String(user_id)))
  const sections: Record<string, readonly Fields[]> = {}
  for (const kind of kinds) {
    const found = await kind.read(api, people)
    const told = kind === access ? found.filter((record) => isHeld(sections, record)) : found
    sections[kind.section] = told.map((record) => inFile(kind, record)).sort(byNameOf(kind))
  }
  return sections
}

const HOLDERS = { organization: organizations, team: teams, user: users, api_key: keys } as const

/** What persons and revoked keys may call goes with them. */
function isHeld(sections: Sections, { scope_type, scope_id }: Fields): boolean {
  const { section, id } = HOLDERS[scope_type as keyof typeof HOLDERS]
  return sections[section]?.some((record) => record[id[0] ?? ''] === scope_id) ?? false
}

const byNameOf = (kind: Kind) => (one: Fields, other: Fields) => (nameOf(kind, one) < nameOf(kind, other) ? -1 : 1)
