import { isMap } from './fields.ts'
import { suggestion } from './nearest.ts'

const CHAINS = ['fallbacks', 'context_window_fallbacks', 'content_policy_fallbacks'] as const

type Path = (string | number)[]

interface NameMistake {
  readonly path: Path
  readonly message: string
}

/** A place that names a model group. */
interface Reference {
  readonly path: Path
  readonly name: string
  /** What the name may be beside a group. */
  readonly kind: 'alias target' | 'chain source' | 'chain target'
}

/** Names of model groups that lead nowhere, in aliases and in fallback chains. They must name what `model_list` holds, or,
 *  where a database is configured, may name what only that holds: then just what is written nearly like a name of the
 *  file is a mistake. Reads the configuration as it came, since other parts of it may be wrong at the same time. */
export function mistakesInGroupNames(config: unknown): NameMistake[] {
  const groups = groupsOf(member(config, 'model_list'))
  // A nameless deployment is a mistake of its own; it could be the one that is meant here.
  if (groups === undefined) return []
  const mistakes: NameMistake[] = []
  const mayBeStored = member(member(config, 'general_settings'), 'database_url') !== undefined
  const aliases = Object.keys(aliasesOf(config))
  const callable = new Set([...groups, ...aliases])

  for (const alias of aliases) {
    if (!groups.has(alias)) continue
    const message = 'hides the model group of the same name; choose another alias'
    mistakes.push({ path: ['router_settings', 'model_group_alias', alias], message })
  }
  const sources = new Set<string>()
  for (const { path, name, kind } of groupReferences(config)) {
    const itself = kind === 'chain target' && name === path.at(-2)
    if (itself) mistakes.push({ path, message: 'falls back to itself; remove it' })
    const known = kind === 'alias target' ? groups : callable
    const mustBeKnown = !mayBeStored || callable.has(name) || isLikeOneOf(callable, name)
    if (!itself && !known.has(name) && mustBeKnown) {
      mistakes.push({ path, message: `names no model group of model_list${suggestion(name, [...known])}` })
    }
    if (kind !== 'chain source') continue
    const source = `${path[1]} ${name}`
    if (sources.has(source)) mistakes.push({ path, message: 'has a chain already; put its groups into one list' })
    sources.add(source)
  }
  return mistakes
}

/** Every place of the file that names a model group, in its order. */
export function groupReferences(config: unknown): Reference[] {
  const references: Reference[] = []
  for (const [alias, name] of Object.entries(aliasesOf(config))) {
    const path = ['router_settings', 'model_group_alias', alias]
    if (typeof name === 'string') references.push({ path, name, kind: 'alias target' })
  }
  for (const chain of CHAINS) {
    const entries = member(member(config, 'gateway_settings'), chain)
    for (const [index, entry] of (Array.isArray(entries) ? entries : []).entries()) {
      for (const [source, targets] of Object.entries(isMap(entry) ? entry : {})) {
        const path = ['gateway_settings', chain, index, source]
        references.push({ path, name: source, kind: 'chain source' })
        for (const [position, name] of (Array.isArray(targets) ? targets : []).entries()) {
          if (typeof name === 'string') references.push({ path: [...path, position], name, kind: 'chain target' })
        }
      }
    }
  }
  return references
}

/** Only letter case, spaces or punctuation differ. */
function isLikeOneOf(known: ReadonlySet<string>, name: string): boolean {
  return [...known].some((other) => bare(other) === bare(name))
}

const bare = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

function groupsOf(modelList: unknown): ReadonlySet<string> | undefined {
  const groups = new Set<string>()
  for (const entry of Array.isArray(modelList) ? modelList : []) {
    const name = member(entry, 'model_name')
    if (typeof name !== 'string') return undefined
    groups.add(name)
  }
  return modelList === undefined || Array.isArray(modelList) ? groups : undefined
}

function aliasesOf(config: unknown): Readonly<Record<string, unknown>> {
  const aliases = member(member(config, 'router_settings'), 'model_group_alias')
  return isMap(aliases) ? aliases : {}
}

function member(of: unknown, key: string): unknown {
  return isMap(of) && Object.hasOwn(of, key) ? of[key] : undefined
}
