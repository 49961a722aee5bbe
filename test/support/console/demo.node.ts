import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jsonLog } from '../../../src/lib/log.ts'
import { loadConfig } from '../../../src/routing/configuration.ts'
import { serve } from '../../../src/runtimes/node/process/serve.node.ts'
import { nodeAdapters } from '../../../src/runtimes/node/setup/adapters.node.ts'
import { SCHEMA } from '../embedded-database.node.ts'
import { cheapHasher } from '../passwords.ts'
import { startUpstream } from '../scripted-upstream.ts'
import { DEMO_KEY, demoConfig, fillDemo } from './demo-data.ts'

export interface Demo {
  readonly url: string
  close(): Promise<void>
}

/** A gateway with people, keys and calls in it, for looking at the console. */
export async function startDemo(port = 0, isEmpty = false): Promise<Demo> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'gateway-demo-'))
  const upstream = await startUpstream()
  const variables = { GATEWAY_MASTER_KEY: DEMO_KEY, GATEWAY_SALT_KEY: 'salt-of-the-demo-4b7d11c09e' }
  const config = loadConfig(demoConfig(upstream.url), variables)
  const log = jsonLog('silent', () => {})
  const adapters = await nodeAdapters(config, { dataFolder, schemaText: SCHEMA, log })
  const passwordHasher = cheapHasher(adapters.passwordHasher)
  const serving = await serve(config, { ...adapters, passwordHasher }, { port, host: '127.0.0.1' })
  await adapters.ready
  const url = `http://127.0.0.1:${serving.port}`
  if (!isEmpty) await fillDemo(url, upstream)
  await serving.idle()
  return {
    url,
    async close() {
      await serving.stop(1000)
      await adapters.close()
      await upstream.close()
      await rm(dataFolder, { recursive: true, force: true })
    },
  }
}
