import type { CallTarget } from '../pipeline/caller.ts'
import type { Registry } from '../routing/registry.ts'

/** The names that clients may send, sorted: models, route groups, and the aliases of both. */
export function callableNames({ names, resolve }: Registry, mayCall: (target: CallTarget) => boolean): string[] {
  return names.filter((name) => {
    const group = resolve(name)
    return group !== undefined && mayCall(group)
  })
}
