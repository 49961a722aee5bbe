import { type Mistake, pathText } from './config-error.ts'
import { isMap } from './fields.ts'

const PREFIX = 'os.environ/'

/** Variables by name. On Workers a variable may also be a number or a boolean, and the same object holds bindings, which
 *  count as not set. */
export type Environment = Readonly<Record<string, unknown>>

export interface Resolved {
  readonly tree: unknown
  /** The name of the variable that was resolved at each path. */
  readonly variables: ReadonlyMap<string, string>
  readonly mistakes: readonly Mistake[]
}

export function variable(env: Environment, name: string): string | undefined {
  const value = env[name]
  const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
  return typeof text === 'string' && text !== '' ? text : undefined
}

/** Replaces every `os.environ/NAME` by the text of its variable. References that cannot be resolved stay unchanged. */
export function resolveReferences(tree: unknown, env: Environment): Resolved {
  const variables = new Map<string, string>()
  const mistakes: Mistake[] = []
  const resolve = (value: unknown, path: (string | number)[]): unknown => {
    if (Array.isArray(value)) return value.map((entry, index) => resolve(entry, [...path, index]))
    if (isMap(value)) {
      return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, resolve(member, [...path, key])]))
    }
    if (typeof value !== 'string' || !value.startsWith(PREFIX)) return value
    const name = value.slice(PREFIX.length)
    const text = variable(env, name)
    if (/^[A-Za-z_]\w*$/.test(name) && text !== undefined) {
      variables.set(pathText(path), name)
      return text
    }
    const message = /^[A-Za-z_]\w*$/.test(name)
      ? `the environment variable ${name} is not set; set it, or remove this key`
      : 'must have the form os.environ/NAME'
    mistakes.push({ path: pathText(path), message })
    return value
  }
  return { tree: resolve(tree, []), variables, mistakes }
}

/** The number or boolean that the text of a variable stands for; undefined if it is neither. */
export function coerced(text: string): number | boolean | undefined {
  const trimmed = text.trim()
  if (/^(true|false)$/i.test(trimmed)) return trimmed.toLowerCase() === 'true'
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed) ? Number(trimmed) : undefined
}
