import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MASTER_KEY } from '../../../support/gateway.ts'
import { preparedPlace } from '../../../support/prepared-place.ts'
import type { GatewayProcess, Place } from '../gateway-process.ts'

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

describe('a deployment that leads back to its own gateway', () => {
  let home: Place
  let gateway: GatewayProcess
  beforeAll(async () => {
    home = await preparedPlace()
    const port = await freePort()
    const params = `{ model: openai-compatible/loop, api_base: 'http://127.0.0.1:${port}/v1', api_key: ${MASTER_KEY} }`
    gateway = await home.start({
      yaml: `
router_settings: { num_retries: 2, retry_after: 0, cooldown_time: 0 }
gateway_settings: { fallbacks: [{ safe: [echo] }] }
model_list:
  - { model_name: loop, gateway_params: ${params} }
  - { model_name: safe, gateway_params: ${params.replace('/loop,', '/safe,')} }
  - { model_name: echo, gateway_params: { model: echo/echo } }
`,
      env: { PORT: String(port) },
    })
    await gateway.greeted()
  })
  afterAll(() => home.clear())

  const messages = [{ role: 'user', content: 'x' }]

  it('is named as such, after four calls and not for ever', async () => {
    const response = await gateway.chat({ model: 'loop', messages })
    expect(response.status).toBe(508)
    expect(await response.json()).toMatchObject({ error: { code: 'loop_detected' } })
    expect(await gateway.untilLogged('call.finished', 4)).toHaveLength(4)
    expect(await gateway.untilLogged('request.finished', 1)).toMatchObject([{ status: 508 }])
  })

  it('is left for a fallback', async () => {
    const response = await gateway.chat({ model: 'safe', messages })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'x' } }] })
  })
})
