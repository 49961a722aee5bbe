import { afterAll, beforeAll, describe, inject } from 'vitest'
import { type FullGateway, startFullGateway } from '../support/full-gateway.node.ts'
import { freshDatabase } from '../support/postgres.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { type ResponsesAccounts, startResponsesAccounts } from '../support/responses-account.node.ts'
import { configFor, tenancyScenario } from './scenario.ts'

describe.skipIf(inject('postgresUrl') === '' || inject('redisUrl') === '')('what providers keep, on Node', () => {
  let accounts: ResponsesAccounts
  let redis: RedisServer
  const gateways: FullGateway[] = []

  beforeAll(async () => {
    accounts = await startResponsesAccounts()
    redis = (await startRedis()) as RedisServer
    const stores = `general_settings: { database_url: '${await freshDatabase(inject('postgresUrl'))}', redis_url: '${redis.url}' }\n`
    for (let at = 0; at < 2; at++) gateways.push(await startFullGateway(stores + configFor(accounts.url)))
  })
  afterAll(async () => {
    for (const gateway of gateways) await gateway.close()
    await redis.stop()
    await accounts.close()
  })

  tenancyScenario('in two processes', () => ({ urls: gateways.map(({ url }) => url), accounts }))
})
