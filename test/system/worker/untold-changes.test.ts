import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { chatInit, MASTER_KEY } from '../../support/gateway.ts'
import { workerModules } from './support/built-once.ts'
import { type Edge, edgeExists, startEdge } from './support/edge.ts'
import { withConfig } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

const yaml = `
general_settings: { log_level: debug }
model_list:
  - { model_name: echo, gateway_params: { model: echo/echo } }
`

describe.skipIf(!edgeExists())('on workerd, a change that the shared store cannot be told', () => {
  let edge: Edge
  let one: Workerd
  let other: Workerd

  beforeAll(async () => {
    edge = await startEdge()
    const modules = withConfig(await workerModules(), yaml)
    one = await startWorkerd(modules, edge.variables)
    other = await startWorkerd(modules, edge.variables)
  })
  afterEach(() => edge.redis.set('open'))
  afterAll(async () => {
    await Promise.all([one?.stop(), other?.stop()])
    await edge?.close()
  })

  async function admin(path: string, init: RequestInit = {}) {
    const startedAt = performance.now()
    const headers = { ...init.headers, authorization: `Bearer ${MASTER_KEY}` }
    const response = await fetch(one.url + path, { ...init, headers })
    // biome-ignore lint/suspicious/noExplicitAny: fields are what is looked at.
    const body = (await response.json()) as any
    return { status: response.status, body, ms: performance.now() - startedAt }
  }
  async function chat(worker: Workerd, key: string): Promise<number> {
    const init = chatInit({ model: 'echo', messages: [{ role: 'user', content: 'Hello' }] })
    const headers = { ...init.headers, authorization: `Bearer ${key}` }
    const response = await fetch(`${worker.url}/v1/chat/completions`, { ...init, headers })
    await response.arrayBuffer()
    return response.status
  }

  it.each(['closed', 'stalled'] as const)(
    'while Redis is %s, says so, holds in its isolate at once, and everywhere when Redis is back, with nobody calling',
    async (line) => {
      const made = (await admin('/ui/api/keys', chatInit({}))).body
      // Whoever was away from the store is back.
      for (const worker of [one, other]) await expect.poll(() => chat(worker, made.key)).toBe(200)
      await edge.redis.set(line)
      const revoked = await admin(`/ui/api/keys/${made.key_id}/revoke`, { method: 'POST' })
      expect([revoked.status, revoked.body.pending]).toEqual([202, true])
      expect(revoked.ms).toBeLessThan(10_000)
      for (let turn = 0; turn < 6; turn++) expect(await chat(one, made.key)).toBe(401)
      await edge.redis.set('open')
      await wait(4000)
      expect(await chat(other, made.key)).toBe(401)
      expect(await chat(one, made.key)).toBe(401)
    },
    40_000,
  )
})
