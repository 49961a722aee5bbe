import { startPostgresOverHttp } from './postgres-over-http.node.ts'
import { startRedisOverHttp } from './redis-over-http.node.ts'
import { type RedisServer, startRedisServer } from './redis-server.node.ts'

export interface LocalStores {
  /** The variables of the Workers build. */
  readonly variables: {
    /** Without them a Worker keeps its shared store in a Durable Object. */
    readonly REDIS_URL?: string
    readonly REDIS_TOKEN?: string
    readonly DATABASE_URL: string
    readonly DATABASE_HTTP_URL: string
  }
  close(): Promise<void>
}

export interface LocalStoresOptions {
  /** A Redis over TCP; `own` is a local `redis-server`, which is started and stopped with the endpoints. */
  readonly redis: string | 'own' | 'none'
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
  const server = options.redis === 'own' ? await startLocalRedis() : undefined
  const redisUrl = server?.url ?? options.redis
  const redis =
    redisUrl === 'none'
      ? undefined
      : await startRedisOverHttp({ redisUrl, port: options.redisPort, token: options.token })
  const postgresUrl = options.databaseUrl ?? EMBEDDED_URL
  const postgres = await startPostgresOverHttp({
    postgresUrl,
    port: options.postgresPort,
    ...(options.databaseUrl === undefined ? { folder: options.folder } : {}),
  })
  return {
    variables: {
      ...(redis ? { REDIS_URL: redis.url, REDIS_TOKEN: options.token } : {}),
      DATABASE_URL: postgresUrl,
      DATABASE_HTTP_URL: postgres.url,
    },
    async close() {
      await redis?.close()
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
