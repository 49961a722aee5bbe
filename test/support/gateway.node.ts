import { tmpdir } from 'node:os'
import { jsonLog } from '../../src/lib/log.ts'
import { loadConfig } from '../../src/routing/configuration.ts'
import { serve } from '../../src/runtimes/node/process/serve.node.ts'
import { inProcessStore } from '../../src/stores/kv/in-process.ts'
import type { SharedStore } from '../../src/stores/kv/shared-store.ts'
import { nodeTransport } from '../../src/transport/node-transport.node.ts'
import { chatInit, MASTER_KEY, type TestGateway } from './gateway.ts'
import { keptRecords } from './kept-records.ts'
import { noBlobs, noHasher, noQueue, unchangedSql } from './nothing.ts'

/** Behind a real port, through the server that `npm start` runs. */
export async function start(
  yaml: string,
  env: Record<string, string>,
  store: SharedStore = inProcessStore({ now: Date.now }),
): Promise<TestGateway> {
  const config = loadConfig(yaml, env)
  const logs: Record<string, unknown>[] = []
  const transport = nodeTransport()
  const log = jsonLog('debug', (line) => logs.push(JSON.parse(line)))
  const { delivery, records } = keptRecords()
  const delivering = () => delivery
  const adapters = {
    store,
    sql: unchangedSql,
    blobs: noBlobs,
    queue: noQueue,
    transport,
    passwordHasher: noHasher,
    log,
    counting: 'process' as const,
    callersKept: 20_000,
    memoryBytes: 256 * 1024 * 1024,
    delivering,
  }
  const serving = await serve(config, adapters, { port: 0, host: '127.0.0.1', dataFolder: tmpdir() })
  const base = `http://127.0.0.1:${serving.port}`
  const call = (path: string, init: RequestInit = {}) =>
    fetch(base + path, { ...init, headers: { authorization: `Bearer ${MASTER_KEY}`, ...init.headers } })
  return {
    runtime: 'node',
    store,
    url: base,
    fetch: call,
    chat: (body, init) => call('/v1/chat/completions', chatInit(body, init)),
    logs,
    records,
    idle: serving.idle,
    async close() {
      await serving.stop(1000, 10)
      await transport.close()
    },
  }
}
