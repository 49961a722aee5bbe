import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type FullGateway, startFullGateway } from '../../support/full-gateway.node.ts'
import { chatInit } from '../../support/gateway.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { type ResponsesAccounts, startResponsesAccounts } from '../../support/responses-account.node.ts'
import { configFor, tenancyScenario } from './scenario.ts'

describe.skipIf(inject('postgresUrl') === '' || inject('redisUrl') === '')('what providers keep, on Node', () => {
  let accounts: ResponsesAccounts
  let redis: RedisServer
  const gateways: FullGateway[] = []

  beforeAll(async () => {
    accounts = await startResponsesAccounts()
    redis = (await startRedis()) as RedisServer
    const stores = `general_settings: { database_url: '${await preparedDatabase(inject('postgresUrl'))}', redis_url: '${redis.url}' }\n`
    for (let at = 0; at < 2; at++) gateways.push(await startFullGateway(stores + configFor(accounts.url)))
  })
  afterAll(async () => {
    for (const gateway of gateways) await gateway.close()
    await redis.stop()
    await accounts.close()
  })

  it('nobody can tell whose an id is while the shared store is away', async () => {
    const own = (await startRedis()) as RedisServer
    const stores = `general_settings: { database_url: '${await preparedDatabase(inject('postgresUrl'))}', redis_url: '${own.url}' }\n`
    const gateway = await startFullGateway(stores + configFor(accounts.url))
    const respond = (body: object) => gateway.fetch('/v1/responses', chatInit({ model: 'twins', input: 'Hi', ...body }))
    const { id, output } = (await (await respond({})).json()) as { id: string; output: object[] }
    await own.stop()
    for (let at = 0; at < 4; at++) {
      for (const model of ['twins', 'wide']) {
        const asked = await respond({ model, previous_response_id: id })
        const told = [asked.status, asked.headers.get('retry-after'), await asked.json()]
        expect(told).toMatchObject([503, '1', { error: { code: 'store_unavailable', param: 'previous_response_id' } }])
      }
    }
    const kept = await respond({ model: 'routed', previous_response_id: `resp_${'0'.repeat(24)}` })
    expect([kept.status, await kept.json()]).toMatchObject([503, { error: { code: 'store_unavailable' } }])
    // What says everything by itself needs nobody's memory.
    expect((await respond({ input: [output[1]] })).status).toBe(200)
    const fresh = (await (await respond({})).json()) as { id: string }
    expect((await respond({ previous_response_id: fresh.id })).status).toBe(200)
    await gateway.close()
  })

  tenancyScenario('in two processes', () => ({ urls: gateways.map(({ url }) => url), accounts }))
})
