import { type RedisServer, startRedisServer } from '../../src/runtimes/local/redis-server.node.ts'

export type { RedisServer }

/** A redis-server of the test's own. Undefined where this machine has none; in CI that is a failure. */
export async function startRedis(
  options: Parameters<typeof startRedisServer>[0] = {},
): Promise<RedisServer | undefined> {
  const server = await startRedisServer(options)
  if (!server && process.env.CI) throw new Error('redis-server is not installed')
  return server
}
