import { existsSync, readFileSync } from 'node:fs'
import type { Config } from '../../../config/schema.ts'
import { loadConfig } from '../../../routing/configuration.ts'
import { ownKeys } from './own-keys.node.ts'
import { SAMPLE_CONFIG } from './places.node.ts'

export interface NodeConfig {
  readonly config: Config
  /** The generated master key, at the start that made it. */
  readonly newMasterKey: string | undefined
  /** The sample that `model-gateway init` writes is used, since no file is named and the default one does not exist. */
  readonly isSample: boolean
}

/** The configuration, with generated keys if the operator has set none. */
export function nodeConfig(
  path: string,
  dataFolder: string,
  env: Readonly<Record<string, string | undefined>>,
): NodeConfig {
  const own = textOf(path, Boolean(env.GATEWAY_CONFIG))
  const isSample = own === undefined
  const text = own ?? readFileSync(SAMPLE_CONFIG, 'utf8')
  const config = loadConfig(text, env)
  const { master_key, salt_key } = config.general_settings
  if (master_key && salt_key) return { config, newMasterKey: undefined, isSample }
  const keys = ownKeys(dataFolder)
  const filled = {
    ...env,
    ...(master_key ? {} : { GATEWAY_MASTER_KEY: keys.masterKey }),
    ...(salt_key ? {} : { GATEWAY_SALT_KEY: keys.saltKey }),
  }
  const newMasterKey = keys.fresh && !master_key ? keys.masterKey : undefined
  const made = [...(master_key ? [] : ['GATEWAY_MASTER_KEY']), ...(salt_key ? [] : ['GATEWAY_SALT_KEY'])]
  return { config: loadConfig(text, filled, made), newMasterKey, isSample }
}

/** The text in which mistakes are looked up; undefined if there is no such file. */
export function configTextOf(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

/** The text of the file; undefined if no file is named and the default one does not exist. */
function textOf(path: string, isNamed: boolean): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT') throw new Error(`The configuration file ${path} cannot be read (${code}).`)
    if (!isNamed) return undefined
    throw new Error(`There is no configuration file at ${path}. Set GATEWAY_CONFIG to where it is.`)
  }
}
