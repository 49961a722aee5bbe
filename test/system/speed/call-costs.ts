import { createHook } from 'node:async_hooks'
import { createApp } from '../../../src/app.ts'
import { jsonLog } from '../../../src/lib/log.ts'
import { sharedTimers } from '../../../src/lib/timers/shared-timers.node.ts'
import type { Answer } from '../../../src/pipeline/answer.ts'
import { loadConfig } from '../../../src/routing/configuration.ts'
import { toResponse } from '../../../src/runtimes/node/http/listener.node.ts'
import { lineWriter } from '../../../src/runtimes/node/process/line-writer.node.ts'
import { createServices } from '../../../src/services.ts'
import { inProcessStore } from '../../../src/stores/kv/in-process.ts'
import { configuration, newKey } from '../../bench/gateway-server.ts'
import { canned, clientOf, everyKey } from '../../bench/growth-cell.ts'
import { requestBody } from '../../bench/wire.ts'
import { noBlobs, noHasher, noQueue } from '../../support/nothing.ts'

/** What one governed call costs beside its sockets: counted, so that a busy machine counts the same. */
export interface CallCosts {
  /** Bytes by which the heap grows with a call. With a young generation that holds all measured calls: what a call
   *  allocates. With a small one: what survives it until the whole heap is collected. */
  readonly bytes: number
  readonly promises: number
  readonly timers: number
}

const WARM_CALLS = 3000
/** How many calls are measured. */
const CALLS = Number(process.argv[2])

async function measure(): Promise<CallCosts> {
  const call = gateway()
  for (let turn = 0; turn < WARM_CALLS; turn++) await call()

  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  for (let turn = 0; turn < CALLS; turn++) await call()
  const bytes = (process.memoryUsage().heapUsed - before) / CALLS

  let [promises, timers] = [0, 0]
  const hook = createHook({
    init(_id, type) {
      if (type === 'PROMISE') promises += 1
      else if (type === 'Timeout') timers += 1
    },
  }).enable()
  for (let turn = 0; turn < CALLS; turn++) await call()
  hook.disable()
  return { bytes, promises: promises / CALLS, timers: timers / CALLS }
}

/** The gateway as a Node process has it, called with a virtual key that has limits and budgets at every level. */
function gateway(): () => Promise<void> {
  const config = loadConfig(configuration('https://far.test/v1'), {
    GATEWAY_MASTER_KEY: newKey(),
    GATEWAY_SALT_KEY: 'salt-of-the-costs-0f4d1b7a93c5',
  })
  const lines = lineWriter({ write() {}, writableLength: 0 })
  const app = createApp(
    createServices(config, {
      store: inProcessStore({ now: Date.now }),
      sql: everyKey({ statements: 0 }),
      blobs: noBlobs,
      queue: noQueue,
      transport: canned,
      passwordHasher: noHasher,
      log: jsonLog('info', lines.write, Date.now, {}, lines),
      counting: 'process',
      callersKept: 20_000,
      memoryBytes: 256 * 1024 * 1024,
      delivering: () => ({ deliver() {}, depth: () => 0, drain: async () => 0 }),
      draining: () => false,
      timers: sharedTimers(),
      toResponse,
    }),
  )
  const headers: Readonly<Record<string, string>> = {
    authorization: `Bearer ${newKey()}`,
    'content-type': 'application/json',
  }
  const request = {
    method: 'POST',
    url: 'http://localhost/v1/chat/completions',
    headers: { get: (name: string) => headers[name.toLowerCase()] ?? null },
  }
  const body = new TextEncoder().encode(requestBody(false))
  return async () => {
    const deferred: Promise<unknown>[] = []
    const answer: Answer | Response = await app.fetch(request as unknown as Request, {
      client: clientOf(body, deferred),
    })
    if (answer.status !== 200) throw new Error(`answered ${answer.status}`)
    await Promise.all(deferred)
  }
}

process.stdout.write(JSON.stringify(await measure()))
process.exit(0)
