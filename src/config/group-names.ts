import { isMap } from './fields.ts'
import { suggestion } from './nearest.ts'

const CHAINS = ['fallbacks', 'context_window_fallbacks', 'content_policy_fallbacks']

interface NameMistake {
  readonly path: (string | number)[]
  readonly message: string
}

/** Names of model groups that lead nowhere: aliases and fallback chains must name what `model_list` holds. Reads the
 *  configuration as it came, since other parts of it may be wrong at the same time. */
export function mistakesInGroupNames(config: unknown): NameMistake[] {
  const mistakes: NameMistake[] = []
  const groups = groupsOf(member(config, 'model_list'))
  // A nameless deployment is a mistake of its own; it could be the one that is meant here.
  if (groups === undefined) return mistakes

  const aliases = member(member(config, 'router_settings'), 'model_group_alias')
  const callable = new Set([...groups, ...(isMap(aliases) ? Object.keys(aliases) : [])])
  for (const [alias, group] of Object.entries(isMap(aliases) ? aliases : {})) {
    const path = ['router_settings', 'model_group_alias', alias]
    if (groups.has(alias))
      mistakes.push({ path, message: 'hides the model group of the same name; choose another alias' })
    else if (typeof group === 'string' && !groups.has(group)) mistakes.push({ path, message: unknown(group, groups) })
  }

  for (const chain of CHAINS) {
    const entries = member(member(config, 'gateway_settings'), chain)
    if (!Array.isArray(entries)) continue
    const seen = new Set<string>()
    for (const [index, entry] of entries.entries()) {
      if (!isMap(entry)) continue
      for (const [source, targets] of Object.entries(entry)) {
        const path = ['gateway_settings', chain, index, source]
        if (!callable.has(source)) mistakes.push({ path, message: unknown(source, callable) })
        if (seen.has(source)) mistakes.push({ path, message: 'has a chain already; put its groups into one list' })
        seen.add(source)
        for (const [position, target] of (Array.isArray(targets) ? targets : []).entries()) {
          if (typeof target !== 'string') continue
          const at = [...path, position]
          if (target === source) mistakes.push({ path: at, message: 'falls back to itself; remove it' })
          else if (!callable.has(target)) mistakes.push({ path: at, message: unknown(target, callable) })
        }
      }
    }
  }
  return mistakes
}

function groupsOf(modelList: unknown): ReadonlySet<string> | undefined {
  const groups = new Set<string>()
  for (const entry of Array.isArray(modelList) ? modelList : []) {
    const name = member(entry, 'model_name')
    if (typeof name !== 'string') return undefined
    groups.add(name)
  }
  return modelList === undefined || Array.isArray(modelList) ? groups : undefined
}

const unknown = (group: string, known: ReadonlySet<string>) =>
  `names no model group of model_list${suggestion(group, [...known])}`

function member(of: unknown, key: string): unknown {
  return isMap(of) && Object.hasOwn(of, key) ? of[key] : undefined
}
