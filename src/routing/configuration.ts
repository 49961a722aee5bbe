import type { Environment } from '../config/env-references.ts'
import { jsonSchemaOf } from '../config/json-schema.ts'
import { readConfig } from '../config/load.ts'
import { type Config, schemasOf } from '../config/schema.ts'
import { providers } from '../providers/index.ts'
import { strategies } from './strategies/index.ts'

/** The configuration of this build: it may name every provider and every strategy that is registered, and no other. */
export const { config: configSchema, routerSettings, gatewayParams, modelEntry } = schemasOf({ providers, strategies })

/** The configuration that the text and the environment give, or a ConfigError with all mistakes at once. */
export const loadConfig = (yaml: string, env: Environment): Config => readConfig(yaml, env, configSchema())

/** The configuration file as JSON Schema, for editors. */
export const configJsonSchema = () => jsonSchemaOf(configSchema())
