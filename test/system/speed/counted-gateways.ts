import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { inject } from 'vitest'
import { jsonLog } from '../../../src/lib/log.ts'
import { loadConfig } from '../../../src/routing/configuration.ts'
import { serve } from '../../../src/runtimes/node/process/serve.node.ts'
import { nodeAdapters } from '../../../src/runtimes/node/setup/adapters.node.ts'
import type { SharedStore } from '../../../src/stores/kv/shared-store.ts'
import { MASTER_KEY } from '../../support/gateway.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { workerModules } from '../worker/support/built-once.ts'
import { edgeExists, startEdge } from '../worker/support/edge.ts'
import { type Switchable, switchable } from '../worker/support/switchable.ts'
import { withConfig } from '../worker/support/worker-modules.ts'
import { startWorkerd } from '../worker/support/workerd.ts'
import { type Asked, purposeOf, verbOf } from './asked.ts'
import { httpLine } from './http-line.ts'
import { postgresLine } from './postgres-line.ts'
import { redisMonitor } from './redis-monitor.ts'

/** A gateway, and everything that it asks of its stores. */
export interface CountedGateway {
  readonly url: string
  /** The way to its database, which can be cut. */
  readonly database: Switchable
  asked(): Promise<Asked>
  /** How often it took its shared store for away. */
  degraded(): number
  close(): Promise<void>
}

export const countedGatewaysExist = edgeExists

/** By where the shared store is, each with PostgreSQL. */
export const COUNTED_GATEWAYS = {
  'Node, the store inside the process': onNodeAlone,
  'Node, Redis over TCP': onNodeOverRedis,
  'workerd, Redis over HTTP': onWorkerd,
} as const satisfies Record<string, (yaml: string) => Promise<CountedGateway>>

async function onNodeAlone(yaml: string): Promise<CountedGateway> {
  const store: string[] = []
  const gateway = await onNode(yaml, '', (own) => counting(own, store))
  return { ...gateway, asked: async () => ({ store: [...store], sql: gateway.sql() }) }
}

async function onNodeOverRedis(yaml: string): Promise<CountedGateway> {
  const redis = (await startRedis()) as RedisServer
  const gateway = await onNode(yaml, redis.url, (own) => own)
  const monitor = await redisMonitor(redis.url)
  return {
    ...gateway,
    asked: async () => ({ store: (await monitor.commands()).map(verbOf), sql: gateway.sql() }),
    async close() {
      await gateway.close()
      monitor.close()
      await redis.stop()
    },
  }
}

async function onNode(yaml: string, redisUrl: string, observed: (store: SharedStore) => SharedStore) {
  const line = await postgresLine(await preparedDatabase(inject('postgresUrl')))
  const database = await switchable(line.url)
  const dataFolder = await mkdtemp(join(tmpdir(), 'gateway-counted-'))
  const config = loadConfig(yaml, {
    GATEWAY_MASTER_KEY: MASTER_KEY,
    GATEWAY_SALT_KEY: 'salt-of-the-tests-0f4d1b7a93',
    DATABASE_URL: database.url,
    ...(redisUrl === '' ? {} : { REDIS_URL: redisUrl }),
  })
  const schemaText = readFileSync(new URL('../../../schema.sql', import.meta.url), 'utf8')
  let degraded = 0
  const log = jsonLog('warn', (text) => {
    if (text.includes('"store.degraded"')) degraded += 1
  })
  const adapters = await nodeAdapters(config, { dataFolder, schemaText, log })
  await adapters.ready
  const counted = { ...adapters, store: observed(adapters.store) }
  const serving = await serve(config, counted, { port: 0, host: '127.0.0.1', dataFolder })
  return {
    url: `http://127.0.0.1:${serving.port}`,
    database,
    sql: () => line.statements.map(purposeOf),
    degraded: () => degraded,
    async close() {
      await serving.stop(1000)
      await adapters.close()
      await database.close()
      await line.close()
      await rm(dataFolder, { recursive: true, force: true })
    },
  }
}

async function onWorkerd(yaml: string): Promise<CountedGateway> {
  const edge = await startEdge()
  const redis = await httpLine(edge.variables.REDIS_URL as string)
  const postgres = await httpLine(edge.variables.DATABASE_HTTP_URL as string)
  const variables = { ...edge.variables, REDIS_URL: redis.url, DATABASE_HTTP_URL: postgres.url }
  const worker = await startWorkerd(withConfig(await workerModules(), yaml), variables, { queue: 'taking' })
  // Settlements of the same moment go in one request.
  const commandsIn = (body: string) => {
    const command: unknown[] = JSON.parse(body)
    return (Array.isArray(command[0]) ? command : [command]).map((one) => JSON.stringify(one))
  }
  const statementsIn = (body: string) => {
    const { query, queries } = JSON.parse(body) as { query?: string; queries?: { query: string }[] }
    return query === undefined ? (queries ?? []).map((one) => one.query) : [query]
  }
  return {
    url: worker.url,
    database: edge.postgres,
    asked: async () => ({
      store: redis.bodies.flatMap(commandsIn).map(verbOf),
      sql: postgres.bodies.flatMap(statementsIn).map(purposeOf),
    }),
    degraded: () => worker.output().split('"store.degraded"').length - 1,
    async close() {
      await worker.stop()
      await redis.close()
      await postgres.close()
      await edge.close()
    },
  }
}

function counting(store: SharedStore, asked: string[]): SharedStore {
  return new Proxy(store, {
    get(target, name: keyof SharedStore) {
      const verb = target[name]
      if (typeof verb !== 'function' || name === 'mode' || name === 'close') return verb
      return (...input: unknown[]) => {
        asked.push(name === 'put' ? verbOf(`put ${String(input[0])}`) : name)
        return (verb as (...input: unknown[]) => unknown).apply(target, input)
      }
    },
  })
}

/** Resolves when nothing more is asked of the stores, but for what goes on beside. */
export async function quiet(gateway: CountedGateway): Promise<Asked> {
  for (;;) {
    const before = await gateway.asked()
    await wait(300)
    const after = await gateway.asked()
    if (after.store.length === before.store.length && after.sql.length === before.sql.length) return after
  }
}
