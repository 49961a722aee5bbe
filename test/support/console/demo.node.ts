import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jsonLog } from '../../../src/lib/log.ts'
import { loadConfig } from '../../../src/routing/configuration.ts'
import { serve } from '../../../src/runtimes/node/process/serve.node.ts'
import { nodeAdapters } from '../../../src/runtimes/node/setup/adapters.node.ts'
import type { Sql } from '../../../src/stores/sql/sql.ts'
import { SCHEMA } from '../embedded-database.node.ts'
import { type McpServer, startMcpServer } from '../mcp-server.ts'
import { cheapHasher } from '../passwords.ts'
import { startUpstream, type Upstream } from '../scripted-upstream.ts'
import { DEMO_KEY, demoConfig, fillDemo } from './demo-data.ts'
import { fillPast } from './demo-past.ts'
import { DEMO_TOOLS, fillRouting } from './demo-routing.ts'

export const DEMO_SALT_KEY = 'salt-of-the-demo-4b7d11c09e'

export interface Demo {
  readonly url: string
  readonly sql: Sql
  /** What its deployments reach. */
  readonly upstream: Upstream
  /** What the greeting of a start shows while there is no account. */
  setupToken(): Promise<string | undefined>
  close(): Promise<void>
}

export interface DemoOptions {
  readonly port?: number
  /** Without anybody or anything in it. */
  readonly isEmpty?: boolean
  /** With two weeks of calls, for pictures. */
  readonly hasPast?: boolean
  /** YAML in place of the demo's own. */
  readonly config?: (upstream: string) => string
  /** Lays the database into a folder that is not there yet. */
  readonly layDatabase?: (folder: string) => Promise<void>
}

/** A gateway with people, keys and calls in it, for looking at the console. */
export async function startDemo({
  port = 0,
  isEmpty,
  hasPast,
  config: yaml = demoConfig,
  layDatabase,
}: DemoOptions = {}): Promise<Demo> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'gateway-demo-'))
  await layDatabase?.(join(dataFolder, 'postgres'))
  const upstream = await startUpstream()
  const variables = { GATEWAY_MASTER_KEY: DEMO_KEY, GATEWAY_SALT_KEY: DEMO_SALT_KEY }
  const config = loadConfig(yaml(upstream.url), variables)
  const log = jsonLog('silent', () => {})
  const adapters = await nodeAdapters(config, { dataFolder, schemaText: SCHEMA, log })
  const passwordHasher = cheapHasher(adapters.passwordHasher)
  const serving = await serve(config, { ...adapters, passwordHasher }, { port, host: '127.0.0.1', dataFolder })
  await adapters.ready
  const url = `http://127.0.0.1:${serving.port}`
  let tools: McpServer | undefined
  if (!isEmpty) {
    tools = await startMcpServer(DEMO_TOOLS, 'orders')
    await fillDemo(url, upstream)
    await fillRouting(url, upstream, tools.url)
    if (hasPast) await fillPast(url, adapters.sql)
  }
  await serving.idle()
  return {
    url,
    sql: adapters.sql,
    upstream,
    setupToken: serving.setupToken,
    async close() {
      await serving.stop(1000)
      await adapters.close()
      await Promise.all([upstream.close(), tools?.close()])
      await rm(dataFolder, { recursive: true, force: true })
    },
  }
}
