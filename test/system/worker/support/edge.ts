import { inject } from 'vitest'
import { startPostgresOverHttp } from '../../../../src/runtimes/local/postgres-over-http.node.ts'
import { startRedisOverHttp } from '../../../../src/runtimes/local/redis-over-http.node.ts'
import { MASTER_KEY } from '../../../support/gateway.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'
import { type RedisServer, startRedis } from '../../../support/redis.ts'
import { type Switchable, switchable } from './switchable.ts'

export const SALT_KEY = 'salt-of-the-worker-tests-5be1c07d'
export const REDIS_TOKEN = 'redis-token-canary-8a0e4d'
/** Stands in the connection string; the database trusts everybody on this machine. */
export const DATABASE_PASSWORD = 'database-password-canary-3f71'

/** What the worker finds at the edge: an empty Redis and a Postgres without rows behind HTTP, each on a line that can be cut. */
export interface Edge {
  readonly redis: Switchable
  readonly postgres: Switchable
  /** Over TCP, for looking at what was written. */
  readonly databaseUrl: string
  readonly variables: Record<string, string>
  close(): Promise<void>
}

/** Whether this machine has what `startEdge` needs. */
export const edgeExists = () => inject('redisUrl') !== '' && inject('postgresUrl') !== ''

export async function startEdge(newDatabase = preparedDatabase): Promise<Edge> {
  const server = (await startRedis()) as RedisServer
  const redisHttp = await startRedisOverHttp({ redisUrl: server.url, port: 0, token: REDIS_TOKEN })
  const fresh = await newDatabase(inject('postgresUrl'))
  const databaseUrl = Object.assign(new URL(fresh), { password: DATABASE_PASSWORD }).href
  const postgresHttp = await startPostgresOverHttp({ postgresUrl: databaseUrl, port: 0 })
  const redis = await switchable(redisHttp.url)
  const postgres = await switchable(postgresHttp.url)
  return {
    redis,
    postgres,
    databaseUrl,
    variables: {
      REDIS_URL: redis.url,
      REDIS_TOKEN,
      DATABASE_URL: databaseUrl,
      DATABASE_HTTP_URL: postgres.url,
      GATEWAY_MASTER_KEY: MASTER_KEY,
      GATEWAY_SALT_KEY: SALT_KEY,
    },
    async close() {
      await redis.close()
      await postgres.close()
      await redisHttp.close()
      await postgresHttp.close()
      await server.stop()
    },
  }
}
