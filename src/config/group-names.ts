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
  /** Aliases must name groups; chains may name aliases too. */
  readonly kind: 'alias target' | 'chain source' | 'chain target'
}

/** Mistakes in the names of model groups, in aliases and fallback chains. Without a database they must name a group of
 *  `model_list`. With one they may name groups that only the database holds, and only near misses of a name in the file
 *  are mistakes. Reads the unparsed configuration, since other parts of it may be invalid. */
export function mistakesInGroupNames(config: unknown): NameMistake[] {
  const groups = groupsOf(member(config, 'model_list'))
  // A deployment without a name is reported elsewhere. Any name here could mean it.
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

/** All places that name a model group, in the order of the file. */
export function groupReferences(config: unknown): Reference[] {
  const references: Reference[] = []
  for (const [alias, name] of Object.entries(aliasesOf(config))) {
    const path = ['router_settings', 'model_group_alias', alias]
    if (typeof name === 'string') references.push({ path, name, kind: 'alias target' })
  }
  for (const chain of CHAINS) references.push(...chainReferences(config, chain))
  return references
}

function chainReferences(config: unknown, chain: (typeof CHAINS)[number]): Reference[] {
  const references: Reference[] = []
  const entries = listOf(member(member(config, 'gateway_settings'), chain)).map((entry) => (isMap(entry) ? entry : {}))
  for (const [index, entry] of entries.entries()) {
    for (const [source, targets] of Object.entries(entry)) {
      const path = ['gateway_settings', chain, index, source]
      references.push({ path, name: source, kind: 'chain source' })
      for (const [position, name] of listOf(targets).entries()) {
        if (typeof name === 'string') references.push({ path: [...path, position], name, kind: 'chain target' })
      }
    }
  }
  return references
}

/** Whether the name differs from a known one only in letter case, spaces or punctuation. */
function isLikeOneOf(known: ReadonlySet<string>, name: string): boolean {
  return [...known].some((other) => bare(other) === bare(name))
}

const bare = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

function groupsOf(modelList: unknown): ReadonlySet<string> | undefined {
  const groups = new Set<string>()
  for (const entry of listOf(modelList)) {
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

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

function member(of: unknown, key: string): unknown {
  return isMap(of) && Object.hasOwn(of, key) ? of[key] : undefined
}
