import { bearer, type GatewayServer, governedKey, startGateway, startRedis } from '../gateway-server.ts'
import type { Place, Running, Target } from './target.ts'

/** Ours as it comes: everything in one process, called with the master key. */
export const gateway: Target = {
  name: 'gateway',
  ours: true,
  start: async (place) => running(await startGateway(place)),
}

/** The same with its shared state in Redis. */
export const gatewayRedis: Target = {
  name: 'gateway-redis',
  ours: true,
  onlyInFull: true,
  start: async (place) => overRedis(place, async ({ headers }) => headers),
}

/** Ours as it is run: a virtual key, limits and budgets of its organization, team, user and of its own, the ledger. */
export const gatewayKey: Target = {
  name: 'gateway-key',
  ours: true,
  start: async (place) => {
    const server = await startGateway(place)
    return running({ ...server, headers: await ofKey(server) })
  },
}

/** The same, every call decided and settled in Redis. */
export const gatewayKeyRedis: Target = {
  name: 'gateway-key-redis',
  ours: true,
  start: async (place) => overRedis(place, ofKey),
}

type Headers = Readonly<Record<string, string>>

async function overRedis(place: Place, headersOf: (server: GatewayServer) => Promise<Headers>): Promise<Running> {
  const redis = await startRedis(place)
  const server = await startGateway(place, { REDIS_URL: redis.url })
  return running({ ...server, headers: await headersOf(server) }, redis.pid)
}

const ofKey = async (server: GatewayServer) => bearer(await governedKey(server))

const running = ({ root, headers, pid, inspectorPort }: GatewayServer, ...others: number[]): Running => ({
  url: `${root}/v1`,
  headers,
  pids: [pid, ...others],
  inspectorPort,
})
