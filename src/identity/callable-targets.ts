import type { CallTarget } from '../pipeline/caller.ts'

/** What was bound to a scope: a model or route group by its name, or all that have a label. */
export interface Binding {
  readonly callable_kind: 'target' | 'access_group'
  readonly callable_key: string
  readonly enabled: boolean
}

/** What one scope of a caller says about what may be called. */
export interface TargetLevel {
  /** restrict: only what is bound here, which may be nothing; inherit: what is bound here counts for nothing; null:
   *  restrict as soon as anything is bound, enabled or not. */
  readonly mode: 'inherit' | 'restrict' | null
  readonly bindings: readonly Binding[]
}

/** What a caller with these levels may call: what every level that restricts allows. Where none restricts, the default
 *  decides. Levels narrow each other, so that none opens what one above it leaves closed. */
export function callableTargets(
  levels: readonly TargetLevel[],
  byDefault: 'allow' | 'deny',
): (target: CallTarget) => boolean {
  const restricting = levels.filter(restricts)
  if (restricting.length === 0) return byDefault === 'allow' ? () => true : () => false
  const allowances = restricting.map(({ bindings }) => allowance(bindings))
  return (target) => allowances.every((allows) => allows(target))
}

/** Whether there may be anything that a caller with these levels may not call. */
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
