import { join } from 'node:path'
import type { Config } from '../config/schema.ts'
import type { Log } from '../lib/log.ts'
import { reveal } from '../lib/secret.ts'
import type { Adapters } from '../services.ts'
import { folderBlobs } from '../stores/blobs/folder.node.ts'
import { inProcessStore } from '../stores/kv/in-process.ts'
import type { SharedStore } from '../stores/kv/shared-store.ts'
import { type PostgresQueue, postgresQueue } from '../stores/queue/postgres.ts'
import { applySchema } from '../stores/sql/apply-schema.ts'
import type { Sql } from '../stores/sql/sql.ts'
import { undiciTransport } from '../transport/undici.node.ts'
import { s3Storage } from './s3-storage.ts'

export interface NodeAdapters extends Omit<Adapters, 'draining'> {
  readonly queue: PostgresQueue
  close(): Promise<void>
}

/** The adapters of Node: an embedded database and a store inside the process, unless the configuration names others. */
export async function nodeAdapters(
  config: Config,
  options: {
    readonly dataFolder: string
    readonly schemaText: string
    readonly log: Log
  },
): Promise<NodeAdapters> {
  const { log, dataFolder } = options
  const sql = await relational(config, dataFolder)
  await applySchema(sql, options.schemaText)
  const store = await sharedStore(config, log)
  const transport = undiciTransport()
  return {
    store,
    sql,
    blobs: s3Storage(config) ?? folderBlobs(join(dataFolder, 'blobs')),
    queue: postgresQueue(sql, { log }),
    transport,
    log,
    counting: 'process',
    async close() {
      await transport.close()
      await store.close()
      await sql.close()
    },
  }
}

// Loaded when chosen: the embedded database alone takes longer to load than everything else.
async function relational({ general_settings: { database_url: url } }: Config, dataFolder: string): Promise<Sql> {
  if (url) {
    const { nodePostgresSql } = await import('../stores/sql/node-postgres.node.ts')
    return nodePostgresSql({ connectionString: reveal(url) })
  }
  const { pgliteSql } = await import('../stores/sql/pglite.node.ts')
  return pgliteSql({ folder: join(dataFolder, 'postgres') })
}

async function sharedStore({ general_settings: settings }: Config, log: Log): Promise<SharedStore> {
  const now = () => Date.now()
  const local = () => inProcessStore({ now })
  if (!settings.redis_url) return local()
  const { degrading } = await import('../stores/kv/degrading.ts')
  return degrading(await redis(reveal(settings.redis_url), settings.redis_token && reveal(settings.redis_token)), {
    local,
    mode: settings.degraded_mode,
    now,
    log,
  })
}

async function redis(url: string, token: string | undefined): Promise<SharedStore> {
  if (/^rediss?:/.test(url)) {
    const { redisTcpStore } = await import('../stores/kv/redis-tcp.node.ts')
    return redisTcpStore({ url })
  }
  const { upstashStore } = await import('../stores/kv/upstash.ts')
  return upstashStore({ url, token: token ?? '' })
}
