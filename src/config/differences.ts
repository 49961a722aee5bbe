import { isSecret, sameSecret } from '../lib/secret.ts'
import { pathText } from './config-error.ts'
import { isMap } from './fields.ts'
import type { Config } from './schema.ts'

export interface Difference {
  /** Deployments are named by their id: `model_list[east].gateway_params.model`. */
  readonly path: string
  readonly kind: 'added' | 'removed' | 'changed'
  /** Secrets are "[secret]". */
  readonly old: unknown
  readonly new: unknown
}

/** The settings in which two configurations differ. */
export function differencesOf(old: Config, proposed: Config): Difference[] {
  const [before, after] = [settingsOf(old), settingsOf(proposed)]
  const differences: Difference[] = []
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const [was, is] = [before.get(path), after.get(path)]
    if (isSame(was, is)) continue
    const kind = was === undefined ? 'added' : is === undefined ? 'removed' : 'changed'
    differences.push({ path, kind, old: was ?? null, new: is ?? null })
  }
  return differences
}

function settingsOf({ model_list: deployments, ...sections }: Config): Map<string, unknown> {
  const settings = new Map(leavesOf(sections, []))
  for (const { deployment_id: id, ...entry } of deployments) {
    for (const [path, value] of leavesOf(entry, [])) settings.set(`model_list[${id}].${path}`, value)
  }
  return settings
}

function* leavesOf(value: unknown, path: readonly string[]): Generator<[string, unknown]> {
  if (value === undefined) return
  if (!isMap(value) || isSecret(value)) yield [pathText(path), value]
  else for (const [key, member] of Object.entries(value)) yield* leavesOf(member, [...path, key])
}

function isSame(one: unknown, other: unknown): boolean {
  if (isSecret(one) && isSecret(other)) return sameSecret(one, other)
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((member, index) => isSame(member, other[index]))
  }
  if (isMap(one) && isMap(other)) {
    return [...new Set([...Object.keys(one), ...Object.keys(other)])].every((key) => isSame(one[key], other[key]))
  }
  return one === other
}
