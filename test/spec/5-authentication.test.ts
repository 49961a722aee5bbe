import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../src/app.ts'
import { chatInit, MASTER_KEY, startGateway, type TestGateway } from '../support/gateway.ts'
import { configuration, echo } from './configuration.ts'

const body = { model: 'echo', messages: [{ role: 'user', content: 'Hello' }] }
let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway(configuration({ model_list: [echo('echo', 'echo-1')] }))
})
afterAll(() => gateway.close())

describe('Authentication', () => {
  const proxied = routes
    .map(({ contract }) => contract)
    .filter(({ path }) => path.startsWith('/v1/'))
    .map(({ method, path }) => [method, path.replace(/\{\w+\}/g, 'x')] as const)

  it.each(proxied)('1. every proxy endpoint takes `Authorization: Bearer <API_KEY>`: %s %s', async (method, path) => {
    const ask = async (authorization: string) => {
      const init = method === 'get' ? {} : chatInit(body, { method: method.toUpperCase() })
      const response = await gateway.fetch(path, {
        ...init,
        headers: { ...(init.headers as Record<string, string>), authorization },
      })
      await response.arrayBuffer()
      return response.status
    }
    for (const refused of ['', 'Bearer sk-wrong', `Basic ${MASTER_KEY}`, MASTER_KEY])
      expect(await ask(refused)).toBe(401)
    expect(await ask(`Bearer ${MASTER_KEY}`)).not.toBe(401)
  })

  it('2. the master key gives full access to proxy endpoints', async () => {
    expect((await gateway.chat(body)).status).toBe(200)
    expect((await gateway.fetch('/v1/models')).status).toBe(200)
  })

  it('12. /metrics needs no authentication, /health/fallback-events requires it', async () => {
    expect((await gateway.fetch('/health/fallback-events', { headers: { authorization: '' } })).status).toBe(401)
    expect((await gateway.fetch('/health/fallback-events')).status).toBe(200)
    expect((await gateway.fetch('/metrics', { headers: { authorization: '' } })).status).toBe(200)
  })
})
