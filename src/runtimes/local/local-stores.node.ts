import { startPostgresOverHttp } from './postgres-over-http.node.ts'
import { startRedisOverHttp } from './redis-over-http.node.ts'
import { type RedisServer, startRedisServer } from './redis-server.node.ts'

export interface LocalStores {
  /** The variables of the Workers build. */
  readonly variables: {
    readonly REDIS_URL: string
    readonly REDIS_TOKEN: string
    readonly DATABASE_URL: string
    readonly DATABASE_HTTP_URL: string
  }
  close(): Promise<void>
}

export interface LocalStoresOptions {
  /** A Redis over TCP; by default a local `redis-server`, which is started and stopped with the endpoints. */
  readonly redisUrl?: string | undefined
  /** A Postgres over TCP; by default the embedded one in `folder`. */
  readonly databaseUrl?: string | undefined
  readonly folder: string
  readonly token: string
  /** The ports of the two endpoints; 0 picks a free one. */
  readonly redisPort: number
  readonly postgresPort: number
}

const EMBEDDED_URL = 'postgres://gateway:gateway@127.0.0.1:5432/gateway'

/** Starts Redis and Postgres behind HTTP on this machine, in the place of Upstash and Neon. */
export async function startLocalStores(options: LocalStoresOptions): Promise<LocalStores> {
  const server = options.redisUrl === undefined ? await startLocalRedis() : undefined
  const redisUrl = options.redisUrl ?? (server as RedisServer).url
  const redis = await startRedisOverHttp({ redisUrl, port: options.redisPort, token: options.token })
  const postgresUrl = options.databaseUrl ?? EMBEDDED_URL
  const postgres = await startPostgresOverHttp({
    postgresUrl,
    port: options.postgresPort,
    ...(options.databaseUrl === undefined ? { folder: options.folder } : {}),
  })
  return {
    variables: {
      REDIS_URL: redis.url,
      REDIS_TOKEN: options.token,
      DATABASE_URL: postgresUrl,
      DATABASE_HTTP_URL: postgres.url,
    },
    async close() {
      await redis.close()
      await postgres.close()
      await server?.stop()
    },
  }
}

async function startLocalRedis(): Promise<RedisServer> {
  const server = await startRedisServer()
  if (server) return server
  throw new Error('There is no redis-server on this machine. Install one, or set REDIS_URL=redis://… to use another.')
}
