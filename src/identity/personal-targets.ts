import type { Caller, CallTarget } from '../pipeline/caller.ts'
import type { CallableLevel, CallableScopeRecords } from '../stores/sql/records/callable-scope-records.ts'
import type { ScopeType } from '../stores/sql/records/callable-scopes.ts'
import { callableTargets, usableServers } from './callable-targets.ts'
import { grantsOf } from './grants.ts'
import type { Permission } from './permissions.ts'
import { type Grant, isSession } from './session-caller.ts'

type MayCall = (target: CallTarget) => boolean

/** The models that a caller may call. For a person these are the models that any key of theirs could call: in their
 *  teams, and in organizations whose keys they administer or in which they have no team. A key's own bindings narrow
 *  them. */
export async function personalTargets(
  caller: Caller,
  records: Pick<CallableScopeRecords, 'each'>,
  targetDefault: 'allow' | 'deny',
): Promise<MayCall> {
  if (!isSession(caller)) return caller.mayCall
  const grants = grantsOf(caller)
  if (grants === 'everything') return () => true
  const { userId } = caller
  const user = userId === undefined ? [] : [userId]
  const paths = pathsOf(grants)
  const levels = await records.each({
    organization: paths.flatMap(({ organization = [] }) => organization),
    team: paths.flatMap(({ team = [] }) => team),
    user,
  })
  const known = new Map(levels.map((level) => [nameOf(level.scope_type, level.scope_id), level]))
  const along = paths.map((path) => {
    const named = [...namesOf('organization', path), ...namesOf('team', path), ...user.map((id) => nameOf('user', id))]
    const own = named.map((name) => known.get(name)).filter((level): level is CallableLevel => level !== undefined)
    return callableTargets(own, targetDefault)
  })
  return (target) => along.some((mayCall) => mayCall(target))
}

/** The teams and organizations in which the person could have a key. */
interface Path {
  readonly organization?: readonly string[]
  readonly team?: readonly string[]
}

function pathsOf(grants: readonly Grant[]): readonly Path[] {
  const teams = grants.filter(({ scope }) => scope === 'team')
  const inTeam = new Set(teams.map(({ organizationId }) => organizationId))
  const organizations = grants.filter(
    ({ scope, id, permissions }) => scope === 'organization' && (permissions.has('key.update') || !inTeam.has(id)),
  )
  const paths = [
    ...teams.map(({ id, organizationId }) => ({
      team: [id],
      organization: organizationId === null ? [] : [organizationId],
    })),
    ...organizations.map(({ id }) => ({ organization: [id] })),
  ]
  return paths.length > 0 ? paths : [{}]
}

const nameOf = (type: ScopeType, id: string) => `${type} ${id}`
const namesOf = (type: 'organization' | 'team', path: Path) => (path[type] ?? []).map((id) => nameOf(type, id))

/** The targets that a caller may bind to any scope. */
export interface Bindable {
  readonly target: MayCall
  readonly server: (key: string) => boolean
}

const BINDING: readonly Permission[] = ['org.update', 'team.update', 'user.update', 'key.update']
const ALL: Bindable = { target: () => true, server: () => true }

/** Administrators of organizations may bind what any of these allows, since an organization limits all scopes in it.
 *  Where nothing is bound yet everything can be: the default for calls does not apply. */
export async function bindableTargets(caller: Caller, records: Pick<CallableScopeRecords, 'each'>): Promise<Bindable> {
  const grants = grantsOf(caller)
  if (grants === 'everything') return ALL
  const binding = grants.filter(({ permissions }) => BINDING.some((one) => permissions.has(one)))
  const within = binding.map(({ scope, id, organizationId }) => (scope === 'organization' ? id : organizationId))
  if (within.includes(null)) return ALL
  const ceilings = await records.each({ organization: [...new Set(within)].filter((id) => id !== null) })
  const targets = ceilings.map((ceiling) => callableTargets([ceiling], 'allow'))
  const servers = ceilings.map((ceiling) => usableServers([ceiling], 'allow'))
  return {
    target: (target) => targets.some((allows) => allows(target)),
    server: (key) => servers.some((allows) => allows(key)),
  }
}
