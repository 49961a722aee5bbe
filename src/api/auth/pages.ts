import type { Permission } from '../../identity/permissions.ts'
import type { Grant } from '../../identity/session-caller.ts'

/** The pages of the console, each with the permissions of which any shows it. A page without permissions is shown to every
 *  signed-in person. */
const PAGES: Readonly<Record<string, readonly Permission[]>> = {
  overview: [],
  usage: ['spend.read', 'key.create_self'],
  requests: ['spend.read', 'key.create_self'],
  health: [],
  batches: ['key.read'],
  'my-keys': ['key.create_self'],
  models: [],
  playground: [],
  deployments: ['config.read'],
  groups: ['config.read'],
  prompts: ['config.read'],
  mcp: ['config.read'],
  keys: ['key.read'],
  teams: ['team.read'],
  organizations: ['org.read'],
  people: ['user.read'],
  audit: ['audit.read'],
  settings: ['config.read'],
  account: [],
}

export function pagesOf(grants: 'everything' | readonly Pick<Grant, 'permissions'>[]): string[] {
  const shows = (wanted: readonly Permission[]) =>
    wanted.length === 0 ||
    grants === 'everything' ||
    grants.some(({ permissions }) => wanted.some((one) => permissions.has(one)))
  return Object.entries(PAGES).flatMap(([page, wanted]) => (shows(wanted) ? [page] : []))
}
