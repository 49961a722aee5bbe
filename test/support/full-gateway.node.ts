import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { inject } from 'vitest'
import type { Config } from '../../src/config/schema.ts'
import { jsonLog } from '../../src/lib/log.ts'
import { secret } from '../../src/lib/secret.ts'
import { loadConfig } from '../../src/routing/configuration.ts'
import { serve } from '../../src/runtimes/node/process/serve.node.ts'
import { nodeAdapters } from '../../src/runtimes/node/setup/adapters.node.ts'
import type { Blobs } from '../../src/stores/blobs/blobs.ts'
import type { Sql } from '../../src/stores/sql/sql.ts'
import { preparedDatabaseIn, SCHEMA } from './embedded-database.node.ts'
import { chatInit, MASTER_KEY } from './gateway.ts'
import { cheapHasher } from './passwords.ts'
import { preparedDatabase } from './prepared-database.ts'

/** Under which its keys are kept. */
export const FULL_GATEWAY_SALT_KEY = 'salt-of-the-tests-0f4d1b7a93'

export interface FullGateway {
  readonly url: string
  readonly sql: Sql
  readonly blobs: Blobs
  /** A request with the master key. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  chat(body: unknown): Promise<Response>
  /** What the greeting of a start shows while there is no account. */
  setupToken(): Promise<string | undefined>
  /** Resolves when everything that requests left to be done is done. */
  idle(): Promise<void>
  close(): Promise<void>
}

export interface FullGatewayOptions {
  /** Over the embedded database. Without it a gateway whose configuration names none has a PostgreSQL of its own, where
   *  this machine has a server: its tests take half the time. */
  readonly embedded?: boolean
  readonly schemaText?: string
  /** Passwords are kept at the cost that they have, and not at next to none. */
  readonly costlyPasswords?: boolean
  /** It is handed out as soon as it listens: its database is away. */
  readonly withoutDatabase?: boolean
}

/** A gateway over real stores, as `npm start` makes it; only passwords cost it nothing. */
export async function startFullGateway(
  yaml: string,
  { embedded = false, schemaText = SCHEMA, costlyPasswords = false, withoutDatabase = false }: FullGatewayOptions = {},
): Promise<FullGateway> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'gateway-full-'))
  const written = loadConfig(yaml, { GATEWAY_MASTER_KEY: MASTER_KEY, GATEWAY_SALT_KEY: FULL_GATEWAY_SALT_KEY })
  const config = embedded ? written : await overPostgres(written)
  const log = jsonLog('silent', () => {})
  if (!config.general_settings.database_url) await preparedDatabaseIn(join(dataFolder, 'postgres'))
  const adapters = await nodeAdapters(config, { dataFolder, schemaText, log })
  const passwordHasher = costlyPasswords ? adapters.passwordHasher : cheapHasher(adapters.passwordHasher)
  const serving = await serve(config, { ...adapters, passwordHasher }, { port: 0, host: '127.0.0.1', dataFolder })
  const url = `http://127.0.0.1:${serving.port}`
  const call = (path: string, init: RequestInit = {}) =>
    fetch(url + path, {
      ...init,
      headers: { authorization: `Bearer ${MASTER_KEY}`, ...init.headers },
    })
  if (!withoutDatabase) {
    await adapters.ready
    await ready(() => call('/health/readiness'))
  }
  return {
    url,
    sql: adapters.sql,
    blobs: adapters.blobs,
    fetch: call,
    idle: serving.idle,
    setupToken: serving.setupToken,
    chat: (body) => call('/v1/chat/completions', chatInit(body)),
    async close() {
      await serving.stop(1000, 10)
      await adapters.close()
      await rm(dataFolder, { recursive: true, force: true })
    },
  }
}

async function overPostgres(config: Config): Promise<Config> {
  const { general_settings: settings } = config
  const server = inject('postgresUrl')
  if (settings.database_url || !server) return config
  return { ...config, general_settings: { ...settings, database_url: secret(await preparedDatabase(server)) } }
}

async function ready(ask: () => Promise<Response>): Promise<void> {
  const deadline = Date.now() + 60_000
  while ((await ask()).status !== 200) {
    if (Date.now() > deadline) throw new Error('the gateway does not become ready')
    await wait(20)
  }
}
