import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { configuration } from '../../support/configuration.ts'
import { type FullGateway, startFullGateway } from '../../support/full-gateway.node.ts'
import { MASTER_KEY } from '../../support/gateway.ts'
import { call, post, request } from '../../support/mcp-client.ts'
import { type NamedTools, startNamedTools } from '../../support/named-tools.node.ts'

const redisUrl = inject('redisUrl')

describe.skipIf(!redisUrl)('a cancellation that reaches another process than its call', () => {
  let far: NamedTools
  let gateways: readonly FullGateway[] = []
  beforeAll(async () => {
    far = await startNamedTools()
    const yaml = configuration({
      general_settings: { redis_url: redisUrl },
      gateway_settings: { mcp_servers: [{ server_key: 'far', base_url: far.url }] },
      model_list: [],
    })
    gateways = await Promise.all([startFullGateway(yaml), startFullGateway(yaml)])
  })
  afterAll(async () => {
    await Promise.all(gateways.map((one) => one.close()))
    await far?.close()
  })

  it('ends that call, and no other', async () => {
    const [one, other] = gateways as [FullGateway, FullGateway]
    const send = (to: FullGateway, session: string, body: object) =>
      post(`${to.url}/mcp`, body, { authorization: `Bearer ${MASTER_KEY}`, 'mcp-session-id': session })
    const cancel = (to: FullGateway, session: string, requestId: number) =>
      send(to, session, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
    const mine = send(one, 'of-mine', call(1, 'far__hangs'))
    const others = send(one, 'of-others', call(1, 'far__hangs'))
    await expect.poll(() => far.calls('hangs').length).toBe(2)
    await cancel(other, 'of-nobody', 1)
    await cancel(other, 'of-mine', 2)
    expect((await cancel(other, 'of-mine', 1)).status).toBe(202)
    expect((await mine).body).toMatchObject({ id: 1, error: { code: -32800 } })
    await expect.poll(() => far.ended.length).toBe(1)
    await cancel(one, 'of-others', 1)
    expect((await others).body).toMatchObject({ id: 1, error: { code: -32800 } })
    expect(await send(other, 'of-mine', request(3, 'ping'))).toMatchObject({ status: 200 })
  })
})
