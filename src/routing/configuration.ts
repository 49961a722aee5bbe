import type { Environment } from '../config/env-references.ts'
import { jsonSchemaOf } from '../config/json-schema.ts'
import { readConfig } from '../config/load.ts'
import { type Config, schemasOf } from '../config/schema.ts'
import { providers } from '../providers/index.ts'
import { strategies } from './strategies/index.ts'

/** The configuration's schemas with the registered providers and strategies of this build. */
export const {
  config: configSchema,
  routerSettings,
  gatewayParams,
  credentialEntry,
  modelEntry,
} = schemasOf({ providers, strategies })

/** Parses the configuration from the file's text and the environment. Throws a ConfigError with all mistakes. `made`:
 *  variables whose value the gateway has made itself. */
export const loadConfig = (yaml: string, env: Environment, made: readonly string[] = []): Config =>
  readConfig(yaml, env, configSchema(), made)

/** The JSON Schema of the configuration file, for editors. */
export const configJsonSchema = () => jsonSchemaOf(configSchema())
