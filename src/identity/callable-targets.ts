import type { CallTarget } from '../pipeline/caller.ts'
import type { CallableKind } from '../stores/sql/records/callable-scopes.ts'

/** A binding of a scope: a model or route group by its name, every one that has a label, or a server of tools. */
export interface Binding {
  readonly callable_kind: CallableKind
  readonly callable_key: string
  readonly enabled: boolean
}

/** The bindings of one scope of a caller. Models and servers are restricted apart. */
export interface TargetLevel {
  /** restrict: only what is bound, which may be nothing; inherit: the bindings have no effect; null: restrict models, or
   *  servers, as soon as there is a binding of such, enabled or not. */
  readonly mode: 'inherit' | 'restrict' | null
  readonly bindings: readonly Binding[]
}

type Default = 'allow' | 'deny'

/** Whether a caller with these levels may call a target: every restricting level has to allow it, so no level widens
 *  another. If none restricts, the default decides. */
export function callableTargets(levels: readonly TargetLevel[], byDefault: Default): (target: CallTarget) => boolean {
  const restricting = restrictingLevels(levels, ofModels)
  if (restricting.length === 0) return byDefault === 'allow' ? () => true : () => false
  const allowances = restricting.map(({ bindings }) => allowance(bindings))
  return (target) => allowances.every((allows) => allows(target))
}

/** The same for servers of tools, by their keys. */
export function usableServers(levels: readonly TargetLevel[], byDefault: Default): (key: string) => boolean {
  const restricting = restrictingLevels(levels, ofServers)
  if (restricting.length === 0) return byDefault === 'allow' ? () => true : () => false
  const allowed = restricting.map(
    ({ bindings }) =>
      new Set(bindings.filter((binding) => binding.enabled && ofServers(binding)).map((one) => one.callable_key)),
  )
  return (key) => allowed.every((keys) => keys.has(key))
}

/** Whether some targets are, or may be, forbidden to a caller with these levels. */
export function isRestricted(levels: readonly TargetLevel[], byDefault: Default): boolean {
  return byDefault === 'deny' || restrictingLevels(levels, ofModels).length > 0
}

const ofServers = ({ callable_kind }: Pick<Binding, 'callable_kind'>) => callable_kind === 'mcp_server'
/** A binding of a model, by its name or a label. */
export const ofModels = (binding: Pick<Binding, 'callable_kind'>) => !ofServers(binding)

function restrictingLevels(levels: readonly TargetLevel[], kind: (binding: Binding) => boolean) {
  return levels.filter(({ mode, bindings }) => mode === 'restrict' || (mode === null && bindings.some(kind)))
}

function allowance(bindings: readonly Binding[]): (target: CallTarget) => boolean {
  const names = new Set<string>()
  const labels = new Set<string>()
  for (const { callable_kind, callable_key, enabled } of bindings) {
    if (!enabled) continue
    if (callable_kind === 'target') names.add(callable_key)
    else if (callable_kind === 'access_group') labels.add(callable_key)
  }
  return ({ name, accessGroups }) => names.has(name) || accessGroups.some((label) => labels.has(label))
}
