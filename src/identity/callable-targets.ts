import type { CallTarget } from '../pipeline/caller.ts'

/** A binding of a scope: a model or route group by its name, or every one that has a label. */
export interface Binding {
  readonly callable_kind: 'target' | 'access_group'
  readonly callable_key: string
  readonly enabled: boolean
}

/** The bindings of one scope of a caller. */
export interface TargetLevel {
  /** restrict: only the bound targets, which may be none; inherit: the bindings have no effect; null: restrict as soon as
   *  there is a binding, enabled or not. */
  readonly mode: 'inherit' | 'restrict' | null
  readonly bindings: readonly Binding[]
}

/** Whether a caller with these levels may call a target: every restricting level has to allow it, so no level widens
 *  another. If none restricts, the default decides. */
export function callableTargets(
  levels: readonly TargetLevel[],
  byDefault: 'allow' | 'deny',
): (target: CallTarget) => boolean {
  const restricting = levels.filter(restricts)
  if (restricting.length === 0) return byDefault === 'allow' ? () => true : () => false
  const allowances = restricting.map(({ bindings }) => allowance(bindings))
  return (target) => allowances.every((allows) => allows(target))
}

/** Whether some targets are, or may be, forbidden to a caller with these levels. */
export function isRestricted(levels: readonly TargetLevel[], byDefault: 'allow' | 'deny'): boolean {
  return byDefault === 'deny' || levels.some(restricts)
}

function restricts({ mode, bindings }: TargetLevel): boolean {
  return mode === 'restrict' || (mode === null && bindings.length > 0)
}

function allowance(bindings: readonly Binding[]): (target: CallTarget) => boolean {
  const names = new Set<string>()
  const labels = new Set<string>()
  for (const { callable_kind, callable_key, enabled } of bindings) {
    if (enabled) (callable_kind === 'target' ? names : labels).add(callable_key)
  }
  return ({ name, accessGroups }) => names.has(name) || accessGroups.some((label) => labels.has(label))
}
