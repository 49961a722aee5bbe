import { createExecutionContext, type Execution, waitOnExecutionContext } from 'cloudflare:test'
import { createApp } from '../../src/app.ts'
import { jsonLog } from '../../src/lib/log.ts'
import { loadConfig } from '../../src/routing/configuration.ts'
import { workerClient } from '../../src/runtimes/workers/client.ts'
import { isolateHasher } from '../../src/runtimes/workers/password-hasher.ts'
import { workersTransport } from '../../src/runtimes/workers/transport.ts'
import { createServices } from '../../src/services.ts'
import { inProcessStore } from '../../src/stores/kv/in-process.ts'
import { chatInit, MASTER_KEY, type TestGateway } from './gateway.ts'
import { keptRecords } from './kept-records.ts'
import { noBlobs, noQueue, unchangedSql } from './nothing.ts'

/** Inside workerd, through the client and the transport that the worker has there. */
export async function start(yaml: string, env: Record<string, string>): Promise<TestGateway> {
  const config = loadConfig(yaml, env)
  const logs: Record<string, unknown>[] = []
  const store = inProcessStore({ now: Date.now })
  const log = jsonLog('debug', (line) => logs.push(JSON.parse(line)))
  const transport = workersTransport()
  const { delivery, records } = keptRecords()
  const services = createServices(config, {
    store,
    sql: unchangedSql,
    blobs: noBlobs,
    queue: noQueue,
    transport,
    passwordHasher: isolateHasher,
    log,
    counting: 'shared',
    callersKept: 20_000,
    memoryBytes: 256 * 1024 * 1024,
    delivering: () => delivery,
    draining: () => false,
  })
  const app = createApp(services)
  const contexts: Execution[] = []
  const call = async (path: string, init: RequestInit = {}) => {
    const context = createExecutionContext()
    contexts.push(context)
    const request = new Request(`http://gateway.test${path}`, {
      ...init,
      headers: { authorization: `Bearer ${MASTER_KEY}`, ...(init.headers as Record<string, string> | undefined) },
    })
    const stallMs = 1000 * config.general_settings.client_stall_timeout
    const client = workerClient(request, (work) => context.waitUntil(work), stallMs)
    try {
      return await app.fetch(request, { client })
    } finally {
      client.answered()
    }
  }
  return {
    runtime: 'workerd',
    store,
    url: '',
    fetch: call,
    chat: (body, init) => call('/v1/chat/completions', chatInit(body, init)),
    logs,
    records,
    async idle() {
      for (const context of contexts.splice(0)) await waitOnExecutionContext(context)
    },
    async close() {},
  }
}
