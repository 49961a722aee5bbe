import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../../../config/schema.ts'
import { describeError, type Log } from '../../../lib/log.ts'
import { reveal } from '../../../lib/secret.ts'
import { sharedTimers } from '../../../lib/timers/shared-timers.node.ts'
import type { MailSender } from '../../../mail/mail-sender.ts'
import type { RuntimeAdapters } from '../../../services.ts'
import { folderBacklogs } from '../../../stores/backlog/folder.node.ts'
import { folderBlobs } from '../../../stores/blobs/folder.node.ts'
import type { DegradingStore } from '../../../stores/kv/degrading.ts'
import { inProcessStore } from '../../../stores/kv/in-process.ts'
import type { SharedStore } from '../../../stores/kv/shared-store.ts'
import { type PostgresQueue, postgresQueue } from '../../../stores/queue/postgres.ts'
import { folderClaims } from '../../../stores/sql/batches/folder-claims.ts'
import { deadLetterRecords } from '../../../stores/sql/dead-letter-records.ts'
import type { Sql } from '../../../stores/sql/sql.ts'
import { bufferedDelivery } from '../../../telemetry/delivery/buffered-delivery.ts'
import { keptFirst, topics } from '../../../telemetry/topics.ts'
import { nodeTransport } from '../../../transport/node-transport.node.ts'
import { s3Storage } from '../../s3-storage.ts'
import { threadHasher } from '../passwords/thread-hasher.node.ts'
import { batchFolder } from './batch-folder.node.ts'
import { memoryLimit, roomForBodies } from './memory.node.ts'
import { DATABASE } from './places.node.ts'
import { prepareDatabase, startingSql } from './starting-sql.ts'
import { storeAdvice } from './store-advice.ts'
import { writableFolder } from './writable-folder.node.ts'

/** The timeout of a request to the shared store, which is longer than any call waits for it. */
const REQUEST_MS = 5000

/** How often a process looks after a shared store that is, or was, away. */
const TEND_EVERY_MS = 500

/** The time that a database may be unreachable at the start, or too slow: an embedded one on a busy machine. */
const PATIENCE_MS = 30_000

export interface NodeAdapters extends Omit<RuntimeAdapters, 'draining'> {
  readonly queue: PostgresQueue
  /** Resolves when the database is reachable and has its schema. Rejects if it cannot be prepared. */
  readonly ready: Promise<void>
  close(): Promise<void>
}

/** The adapters of Node: an embedded database and a store inside the process, unless the configuration names others. It
 *  does not wait for the database. It throws if another process holds the embedded one. */
export async function nodeAdapters(
  config: Config,
  options: {
    readonly dataFolder: string
    readonly schemaText: string
    readonly log: Log
    /** The number of processes that share this machine's memory. */
    readonly processes?: number
  },
): Promise<NodeAdapters> {
  const { log, dataFolder, processes = 1 } = options
  const { sql, ready } = await relational(config, options)
  const store = await sharedStore(config, log)
  // The switch of Node itself, whose `fetch` obeys it: what is stored in S3 goes the same way.
  const transport = nodeTransport({ proxied: process.env.NODE_USE_ENV_PROXY === '1' })
  const passwordHasher = threadHasher(Math.max(1, Math.floor(availableParallelism() / processes)))
  const blobFolder = join(dataFolder, 'blobs')
  const { database_url, embeddings_batch_enabled, max_backlog_bytes: maxBytes } = config.general_settings
  const s3 = s3Storage(config)
  // Only this process has an embedded database.
  const isShared = !s3 && embeddings_batch_enabled && database_url !== undefined
  const folder = isShared ? batchFolder(blobFolder, { claims: folderClaims(sql), log }) : undefined
  const backlogs = folderBacklogs({
    folder: join(dataFolder, 'backlog'),
    maxBytes,
    reserved: keptFirst,
    log,
  })
  return {
    host: { runtime: `Node.js ${process.versions.node}`, processes },
    store,
    sql,
    ready,
    blobs: s3 ?? folder ?? folderBlobs(blobFolder),
    queue: postgresQueue(sql, { log }),
    transport,
    smtp: await smtp(config),
    passwordHasher,
    log,
    counting: 'process',
    callersKept: 20_000,
    memoryBytes: roomForBodies(memoryLimit(), { embedded: !config.general_settings.database_url, processes }),
    delivering: (report) =>
      bufferedDelivery({ sql, log, report, topics, backlogs, deadLetters: deadLetterRecords(sql) }),
    async close() {
      // All are closed, even if closing one of them fails.
      await folder?.close()
      const closing = [transport, passwordHasher, store, sql, backlogs].map((one) => one.close())
      const outcomes = await Promise.allSettled(closing)
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') log.error('close.failed', { error: describeError(outcome.reason) })
      }
    },
  }
}

// Adapters are imported on demand.
async function relational(
  { general_settings: settings }: Config,
  { dataFolder, schemaText, log }: { readonly dataFolder: string; readonly schemaText: string; readonly log: Log },
): Promise<{ sql: Sql; ready: Promise<void> }> {
  const { database_url: url } = settings
  const prepared = (sql: Sql) => prepareDatabase(sql, schemaText, { patienceMs: PATIENCE_MS, log, saltKeys: settings })
  if (url) {
    const { nodePostgresSql } = await import('../../../stores/sql/adapters/node-postgres.node.ts')
    const sql = nodePostgresSql({ connectionString: reveal(url) })
    return starting(sql, prepared(sql))
  }
  const { openPglite } = await import('../../../stores/sql/adapters/pglite.node.ts')
  writableFolder(dataFolder)
  const { port: sql, opened } = openPglite({ folder: join(dataFolder, 'postgres'), archive: fileURLToPath(DATABASE) })
  return starting(
    sql,
    opened.then(() => prepared(sql)),
  )
}

function starting(sql: Sql, ready: Promise<void>): { sql: Sql; ready: Promise<void> } {
  return { sql: startingSql(sql, ready), ready }
}

async function smtp({ general_settings: settings }: Config): Promise<MailSender | undefined> {
  if (settings.email_provider !== 'smtp') return undefined
  const { smtpSender } = await import('../../../mail/smtp.node.ts')
  return smtpSender(settings)
}

async function sharedStore({ general_settings: settings }: Config, log: Log): Promise<SharedStore> {
  const now = () => Date.now()
  const local = () => inProcessStore({ now })
  if (!settings.redis_url) return local()
  const { degrading } = await import('../../../stores/kv/degrading.ts')
  const store = degrading(
    await redis(reveal(settings.redis_url), settings.redis_token && reveal(settings.redis_token)),
    {
      local,
      mode: settings.degraded_mode,
      now,
      log,
      advice: storeAdvice,
      timers: sharedTimers(),
    },
  )
  return tended(store, log)
}

/** A store that is back is used from the next call on, also by a process that had none meanwhile. */
function tended(store: DegradingStore, log: Log): SharedStore {
  const tend = () => store.tend().catch((error) => log.error('store.untended', { error: describeError(error) }))
  const tending = setInterval(tend, TEND_EVERY_MS).unref()
  return {
    ...store,
    async close() {
      clearInterval(tending)
      await store.close()
    },
  }
}

async function redis(url: string, token: string | undefined): Promise<SharedStore> {
  if (/^rediss?:/.test(url)) {
    const { redisTcpStore } = await import('../../../stores/kv/redis-tcp.node.ts')
    return redisTcpStore({ url })
  }
  const { upstashStore } = await import('../../../stores/kv/upstash.ts')
  return upstashStore({ url, token: token ?? '', timeoutMs: REQUEST_MS })
}
