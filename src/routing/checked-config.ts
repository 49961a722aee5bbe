import type { Environment } from '../config/env-references.ts'
import type { Config } from '../config/schema.ts'
import { providers } from '../providers/index.ts'
import { loadConfig } from './configuration.ts'
import { deploymentsOf } from './registry.ts'

/** The configuration, if a start would accept it. Throws a ConfigError with all mistakes, those included that a provider
 *  finds in the settings of a deployment. */
export function checkedConfig(yaml: string, env: Environment): Config {
  const config = loadConfig(yaml, env)
  deploymentsOf(config, providers)
  return config
}
