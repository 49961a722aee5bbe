import type * as z from 'zod'
import { ConfigError, type Mistake, pathText } from './config-error.ts'
import { coerced, type Environment, resolveReferences, variable } from './env-references.ts'
import { isMap } from './fields.ts'
import { noteOrigins } from './origins.ts'
import { withOtelVariables } from './otel-variables.ts'
import { readYaml } from './read-yaml.ts'
import type { Config, ConfigSchema } from './schema.ts'
import { sentence } from './sentences.ts'

/** Settings that default to an environment variable. */
const FROM_ENVIRONMENT = {
  database_url: 'DATABASE_URL',
  redis_url: 'REDIS_URL',
  redis_token: 'REDIS_TOKEN',
  master_key: 'GATEWAY_MASTER_KEY',
  master_key_previous: 'GATEWAY_MASTER_KEY_PREVIOUS',
  salt_key: 'GATEWAY_SALT_KEY',
  salt_key_next: 'GATEWAY_SALT_KEY_NEXT',
  salt_key_previous: 'GATEWAY_SALT_KEY_PREVIOUS',
} as const

/** Parses the configuration from the file's text and the environment. Throws a ConfigError with all mistakes. `made`:
 *  variables whose value the gateway has made itself. */
export function readConfig(yaml: string, env: Environment, schema: ConfigSchema, made: readonly string[] = []): Config {
  const read = readYaml(yaml)
  if (read.mistakes.length > 0) throw new ConfigError(read.mistakes)
  const filled = fillFromEnvironment(read.tree ?? {}, env)
  const { tree, variables, mistakes } = withOtelVariables(resolveReferences(filled, env), env)

  let result = schema.safeParse(tree, { error: sentence })
  if (!result.success && coerceVariables(tree, result.error.issues, variables)) {
    result = schema.safeParse(tree, { error: sentence })
  }
  if (result.success && mistakes.length === 0) {
    noteOrigins(result.data, { env, tree: read.tree, variables, made })
    return result.data
  }

  const unresolved = new Set(mistakes.map(({ path }) => path))
  const others = (result.success ? [] : result.error.issues)
    .flatMap(mistakesOf)
    .filter(({ path }) => !unresolved.has(path))
    .map((mistake) => withSource(mistake, variables))
  throw new ConfigError(distinct([...mistakes, ...others]))
}

function fillFromEnvironment(tree: unknown, env: Environment): unknown {
  if (!isMap(tree)) return tree
  const settings = tree.general_settings ?? {}
  if (!isMap(settings)) return tree
  const filled = { ...settings }
  for (const [field, name] of Object.entries(FROM_ENVIRONMENT)) {
    // A reference instead of its text lets mistakes name the variable.
    if (filled[field] === undefined && variable(env, name) !== undefined) filled[field] = `os.environ/${name}`
  }
  return { ...tree, general_settings: filled }
}

/** Converts the text of variables where the schema expects a number or a boolean. Returns whether any was converted. */
function coerceVariables(tree: unknown, issues: readonly z.core.$ZodIssue[], variables: ReadonlyMap<string, string>) {
  let changed = false
  for (const path of issues.flatMap((issue) => wrongKindsIn(issue, []))) {
    if (!variables.has(pathText(path))) continue
    // Every node above a variable's text is a map or a list.
    const within = (node: unknown, key: PropertyKey) => (node as Record<PropertyKey, unknown>)[key]
    const holder = path.slice(0, -1).reduce(within, tree) as Record<PropertyKey, unknown>
    const last = path.at(-1) as PropertyKey
    const value = coerced(String(holder[last]))
    if (value === undefined) continue
    holder[last] = value
    changed = true
  }
  return changed
}

/** The paths of values of a wrong type, including those in the alternatives of a union. */
function wrongKindsIn(issue: z.core.$ZodIssue, above: readonly PropertyKey[]): PropertyKey[][] {
  const path = [...above, ...issue.path]
  if (issue.code === 'invalid_type') return [path]
  return issue.code === 'invalid_union' ? issue.errors.flat().flatMap((inner) => wrongKindsIn(inner, path)) : []
}

/** The mistakes of one issue. An issue about unknown keys is one mistake for each key, with one line of the message
 *  each. */
export function mistakesOf(issue: z.core.$ZodIssue): Mistake[] {
  if (issue.code === 'unrecognized_keys') {
    const lines = issue.message.split('\n')
    return issue.keys.map((key, index) => ({
      path: pathText([...issue.path, key]),
      message: lines[index] ?? issue.message,
    }))
  }
  // An issue about the key of a map has its message in an inner issue.
  const inner = issue.code === 'invalid_key' ? issue.issues[0]?.message : undefined
  return [{ path: pathText(issue.path), message: inner ?? issue.message }]
}

function withSource({ path, message }: Mistake, variables: ReadonlyMap<string, string>): Mistake {
  const name = variables.get(path)
  if (name === undefined) return { path, message }
  return { path, message: `${message} (it comes from the environment variable ${name})`, variable: name }
}

function distinct(mistakes: readonly Mistake[]): Mistake[] {
  return [...new Map(mistakes.map((mistake) => [`${mistake.path}\n${mistake.message}`, mistake])).values()]
}
