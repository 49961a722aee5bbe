import type { Row } from './client.ts'

export type AuditEvent = Row<'GET /ui/api/audit/events'>

/** The words for actions, where they differ from the action's name. */
const DONE: Readonly<Record<string, string>> = {
  create: 'created',
  update: 'changed',
  delete: 'deleted',
  remove: 'removed',
  add: 'added',
  publish: 'published',
  rollback: 'rolled back',
  roll_back: 'rolled back',
  revoke: 'revoked',
  regenerate: 'regenerated',
  cancel: 'cancelled',
  retry: 'repeated the failed requests of',
  resend: 'sent again',
  archive: 'archived',
  unarchive: 'took out of the archive',
  add_version: 'added a version to',
  move_label: 'moved a label of',
  drop_label: 'dropped a label of',
  render: 'rendered',
  check: 'checked',
  test: 'tested',
  call: 'called',
  clear: 'cleared',
  replay: 'delivered again',
  release: 'ended the cooldown of',
  drain: 'drained',
  resume: 'resumed',
  list_models: 'listed the models of',
}

/** The sentences for events of accounts, whose actor is also their resource. */
const OF_ACCOUNTS: Readonly<Record<string, string>> = {
  'account.login': 'signed in',
  'account.sso_login': 'signed in by single sign-on',
  'account.sso_blocked': 'was refused by single sign-on',
  'account.logout': 'signed out',
  'account.bootstrap': 'became the first administrator',
  'account.change_password': 'changed the password',
  'account.forgot_password': 'asked for a new password',
  'account.reset_password': 'set a new password',
  'account.mfa_enroll_start': 'began to set up a second factor',
  'account.mfa_enable': 'switched the second factor on',
  'account.mfa_disable': 'switched the second factor off',
  'account.mfa_verify': 'proved the second factor',
  'account.recovery_codes': 'made new recovery codes',
  'account.end_session': 'ended a session',
  'account.end_sessions': 'ended all sessions of',
  'account.reset_mfa': 'removed the second factor of',
  'account.invitation_accept': 'accepted an invitation',
}
const NAMES_ITS_OBJECT = new Set(['account.end_sessions', 'account.reset_mfa'])

const plain = (name: string): string => NAMES[name] ?? name.replaceAll('_', ' ')

/** The words for fields and kinds, where they differ from their names. */
const NAMES: Readonly<Record<string, string>> = {
  mcp_server: 'MCP server',
  max_budget: 'budget',
  rpm_limit: 'requests per minute',
  tpm_limit: 'tokens per minute',
  max_parallel_requests: 'parallel calls',
}

export const refused = ({ status }: AuditEvent): boolean => status >= 400

/** What was done, as words: `changed requests per minute 60 → 120`. The resource follows, where there is one. */
export function deed(event: AuditEvent): { readonly words: string; readonly namesResource: boolean } {
  const own = OF_ACCOUNTS[event.action]
  if (own !== undefined) return { words: own, namesResource: NAMES_ITS_OBJECT.has(event.action) }
  const [kind = '', verb = ''] = event.action.split('.')
  const done = DONE[verb] ?? plain(verb)
  const changed = Object.entries(event.changes)
  const [only] = changed
  if (verb === 'update' && only !== undefined && changed.length === 1) {
    return {
      words: `${done} ${plain(only[0])} ${shown(only[1].old)} → ${shown(only[1].new)} of ${plain(kind)}`,
      namesResource: true,
    }
  }
  const what = verb === 'update' && changed.length > 1 ? `${changed.length} fields of ${plain(kind)}` : plain(kind)
  return { words: `${done} ${what}`, namesResource: true }
}

const LONGEST = 40

/** A value in a few characters. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}

/** The actor of an event, by its name if it has one. */
export function actorOf({ actor_type, actor_id, actor_name }: AuditEvent): string {
  if (actor_type === 'master_key') return 'Master key'
  return actor_name ?? actor_id ?? plain(actor_type)
}

/** The resource of an event, by its name; an invitation by its address. */
export function resourceOf({ resource_name, resource_id, metadata }: AuditEvent): string | null {
  return resource_name ?? (typeof metadata.email === 'string' ? metadata.email : resource_id)
}

const PAGES: Readonly<Record<string, string>> = {
  team: 'teams',
  key: 'keys',
  organization: 'organizations',
  user: 'people',
  model: 'deployments',
  credential: 'deployments',
  batch: 'batches',
  prompt: 'prompts',
  mcp_server: 'mcp',
}

/** The page of a resource, where it has one. */
export const pageOf = (resourceType: string): string | undefined => PAGES[resourceType]
