import { readFileSync } from 'node:fs'
import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { ownKeys } from './own-keys.node.ts'

export interface NodeConfig {
  readonly config: Config
  /** The master key, at the start that made it. */
  readonly newMasterKey: string | undefined
}

/** The configuration file with its keys: the operator's, else the gateway's own. */
export function nodeConfig(
  path: string,
  dataFolder: string,
  env: Readonly<Record<string, string | undefined>>,
): NodeConfig {
  const text = textOf(path)
  const config = loadConfig(text, env)
  const { master_key, salt_key } = config.general_settings
  if (master_key && salt_key) return { config, newMasterKey: undefined }
  const keys = ownKeys(dataFolder)
  const filled = {
    ...env,
    ...(master_key ? {} : { GATEWAY_MASTER_KEY: keys.masterKey }),
    ...(salt_key ? {} : { GATEWAY_SALT_KEY: keys.saltKey }),
  }
  return { config: loadConfig(text, filled), newMasterKey: keys.fresh && !master_key ? keys.masterKey : undefined }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT') throw new Error(`The configuration file ${path} cannot be read (${code}).`)
    throw new Error(`There is no configuration file at ${path}. Set GATEWAY_CONFIG to where it is.`)
  }
}
