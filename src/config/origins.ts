import { pathText } from './config-error.ts'
import type { Environment } from './env-references.ts'
import { isMap } from './fields.ts'
import type { Config } from './schema.ts'

/** Where the values of a configuration come from. */
export interface ConfigOrigins {
  /** The environment that it was read with. */
  readonly env: Environment
  /** Whether the file has the key. */
  isWritten(path: string): boolean
  /** The variable that gave the value of a key. */
  variableOf(path: string): string | undefined
  /** Whether the gateway itself made the value of a variable. */
  isMade(variable: string): boolean
}

// Beside the configuration, so that none of it can be taken for a setting.
const origins = new WeakMap<Config, ConfigOrigins>()

export function noteOrigins(
  config: Config,
  read: {
    readonly env: Environment
    readonly tree: unknown
    readonly variables: ReadonlyMap<string, string>
    readonly made: readonly string[]
  },
): void {
  const { env, tree, variables, made } = read
  let written: ReadonlySet<string> | undefined
  origins.set(config, {
    env,
    isWritten(path) {
      written ??= new Set(pathsIn(tree, []))
      return written.has(path)
    },
    variableOf: (path) => variables.get(path),
    isMade: (variable) => made.includes(variable),
  })
}

/** undefined: it was not read from a file. */
export function originsOf(config: Config): ConfigOrigins | undefined {
  return origins.get(config)
}

function* pathsIn(node: unknown, path: readonly string[]): Generator<string> {
  if (path.length > 0) yield pathText(path)
  if (isMap(node)) for (const [key, member] of Object.entries(node)) yield* pathsIn(member, [...path, key])
}
