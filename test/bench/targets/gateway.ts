import { bearer, type GatewayServer, governedKey, startGateway, startPostgres, startRedis } from '../gateway-server.ts'
import { startTimes } from '../start-times.ts'
import type { Place, Running, Target } from './target.ts'

/** Ours as it comes: everything in one process, called with the master key. */
export const gateway: Target = {
  name: 'gateway',
  ours: true,
  onlyInFull: true,
  start: async (place) => {
    const server = await startGateway(place)
    return { ...running(server), headers: server.headers }
  },
}

/** The same, called with a virtual key: limits and budgets of its organization, team, user and of its own, the ledger. */
export const gatewayKey: Target = {
  name: 'gateway-key',
  ours: true,
  start: (place) => governed(place),
}

/** Ours as one process of it is run: a virtual key as before, its records in a PostgreSQL elsewhere. */
export const gatewayPostgres: Target = {
  name: 'gateway-postgres',
  ours: true,
  start: async (place) => governed(place, { DATABASE_URL: await startPostgres() }),
}

/** Ours as several processes of it are run: the same, every call decided and settled in a Redis elsewhere. */
export const gatewayRedis: Target = {
  name: 'gateway-redis',
  ours: true,
  onlyInFull: true,
  start: async (place) => {
    const redis = await startRedis(place)
    return governed(place, { DATABASE_URL: await startPostgres(), REDIS_URL: redis.url })
  },
}

/** Ours with a virtual key that has every limit. */
export async function governed(place: Place, env: Readonly<Record<string, string>> = {}): Promise<Running> {
  const server = await startGateway(place, env)
  const headers = bearer(await governedKey(server))
  return { ...running(server), headers, startTimes: () => startTimes(place, env) }
}

const running = ({ root, pid, inspectorPort }: GatewayServer) => ({
  url: `${root}/v1`,
  metricsUrl: `${root}/metrics`,
  pids: [pid],
  inspectorPort,
})
