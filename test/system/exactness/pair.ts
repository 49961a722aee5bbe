import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import pg from 'pg'
import { expect, inject } from 'vitest'
import { type GatewayProcess, type Place, place } from '../../runtimes/node/gateway-process.ts'
import { configuration, type Sections } from '../../support/configuration.ts'
import { MASTER_KEY } from '../../support/gateway.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'
import { type RawRedis, rawRedis } from '../../support/raw-redis.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'

/** Whether this machine has what a pair needs. */
export const pairExists = () => inject('redisUrl') !== '' && inject('postgresUrl') !== ''

/** One installation in two processes: over one PostgreSQL and one Redis, which one of them speaks to over TCP and the
 *  other over HTTP. */
export interface Pair {
  readonly gateways: readonly [GatewayProcess, GatewayProcess]
  readonly redis: RedisServer
  readonly raw: RawRedis
  readonly sql: pg.Pool
  /** The admin API of the first. Throws when it refuses. */
  admin(method: string, path: string, body?: object): Promise<Record<string, unknown>>
  /** Makes a record of its own for each level, with these fields, and the key that belongs to all of them. */
  family(fields?: Partial<Record<Level, object>>): Promise<Family>
  /** Fails where a process has counted for itself since it was asked before, because it took the store for away. */
  expectShared(): void
  /** Starts a further process of the installation. */
  another(): Promise<GatewayProcess>
  close(): Promise<void>
}

export const LEVELS = ['org', 'team', 'user', 'key'] as const
export type Level = (typeof LEVELS)[number]

export interface Family {
  readonly key: string
  readonly ids: Readonly<Record<Level, string>>
}

/** Where the admin API keeps a level's records. */
export const PATHS = { org: 'organizations', team: 'teams', user: 'users', key: 'keys' } as const

/** The secrets of an installation: what must never be seen. */
const TOKEN = 'pair-token-8f1b6c'
const DATABASE_PASSWORD = 'pair-database-password-27ad'
export const SALT_KEY = 'salt-of-the-pair-5d1e08c4f2'

/** Everything that a pair must keep to itself, its provider keys and its virtual keys apart. */
export const SECRETS = [TOKEN, DATABASE_PASSWORD, SALT_KEY, MASTER_KEY]

export async function startPair(sections: Sections): Promise<Pair> {
  const redis = (await startRedis()) as RedisServer
  const address = await preparedDatabase(inject('postgresUrl'))
  const database = Object.assign(new URL(address), { password: DATABASE_PASSWORD }).href
  const redisHttp = await overHttp(redis.url, database)
  const sql = new pg.Pool({ connectionString: database, max: 2 })
  const places: Place[] = []

  async function start(stores: object): Promise<GatewayProcess> {
    const home = await place()
    places.push(home)
    const general_settings = { database_url: database, ...stores, ...sections.general_settings }
    const gateway = await home.start({
      yaml: configuration({ ...sections, general_settings }),
      env: { GATEWAY_SALT_KEY: SALT_KEY },
    })
    await gateway.greeted()
    return gateway
  }
  const overTcp = () => start({ redis_url: redis.url })
  const gateways = await Promise.all([overTcp(), start({ redis_url: redisHttp.url, redis_token: TOKEN })])

  const admin: Pair['admin'] = async (method, path, body) => {
    const response = await gateways[0].fetch(`/ui/api/${path}`, {
      method,
      ...(body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}),
    })
    const answer = await response.json()
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
    return answer as Record<string, unknown>
  }
  /** How many lines of each were looked at. */
  let lookedAt = [0, 0]
  return {
    gateways,
    redis,
    raw: rawRedis(redisHttp.url, TOKEN),
    sql,
    admin,
    async family(fields = {}) {
      const org = await admin('POST', 'organizations', fields.org ?? {})
      const organization_id = String(org.organization_id)
      const team = await admin('POST', 'teams', { organization_id, ...fields.team })
      const user = await admin('POST', 'users', fields.user ?? {})
      const [team_id, user_id] = [String(team.team_id), String(user.user_id)]
      const made = await admin('POST', 'keys', { team_id, user_id, ...fields.key })
      return {
        key: String(made.key),
        ids: { org: organization_id, team: team_id, user: user_id, key: String(made.key_id) },
      }
    },
    expectShared() {
      const all = gateways.map((gateway) => gateway.logged('store.degraded'))
      const fresh = all.map((lines, index) => lines.slice(lookedAt[index]))
      lookedAt = all.map(({ length }) => length)
      expect(fresh).toEqual([[], []])
    },
    another: overTcp,
    async close() {
      await Promise.all(places.map((home) => home.clear()))
      await sql.end()
      redisHttp.stop()
      await redis.stop()
    },
  }
}

/** Redis behind HTTP, in a process of its own: a store must not be slow because the test is busy. */
async function overHttp(redisUrl: string, database: string): Promise<{ url: string; stop(): void }> {
  const child = spawn(process.execPath, ['src/runtimes/local/stores.node.ts'], {
    cwd: new URL('../../../', import.meta.url),
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH ?? '',
      REDIS_URL: redisUrl,
      DATABASE_URL: database,
      REDIS_TOKEN: TOKEN,
      REDIS_HTTP_PORT: '0',
      POSTGRES_HTTP_PORT: '0',
      GATEWAY_DATA_DIR: tmpdir(),
    },
  })
  const [said] = (await once(child.stdout, 'data')) as [Buffer]
  const url = /^REDIS_URL=(.*)$/m.exec(said.toString())?.[1]
  if (!url) throw new Error(`no address in ${said}`)
  return { url, stop: () => child.kill('SIGKILL') }
}

/** The headers of a key's request. */
export const as = (key: string) => ({ authorization: `Bearer ${key}` })

/** Runs one thing as often as asked, all at once, on one and the other in turn. */
export function spread<T>(pair: Pair, count: number, run: (gateway: GatewayProcess, at: number) => Promise<T>) {
  return Promise.all(Array.from({ length: count }, (_, at) => run(pair.gateways[at % 2] as GatewayProcess, at)))
}

/** The status of an answer whose body was read. */
export async function statusOf(answering: Promise<Response>): Promise<number> {
  const response = await answering
  await response.arrayBuffer()
  return response.status
}

/** Waits out the end of a clock hour, with which counters begin anew. */
export async function awayFromTheHour(marginMs = 15_000): Promise<void> {
  const left = 3_600_000 - (Date.now() % 3_600_000)
  if (left < marginMs) await new Promise((resolve) => setTimeout(resolve, left + 100))
}
