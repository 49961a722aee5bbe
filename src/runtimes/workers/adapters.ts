import { waitUntil } from 'cloudflare:workers'
import { BATCH_TOPIC } from '../../batch/wake-up.ts'
import type { Config } from '../../config/schema.ts'
import type { Log } from '../../lib/log.ts'
import { reveal } from '../../lib/secret.ts'
import type { RuntimeAdapters } from '../../services.ts'
import { type R2BucketBinding, r2Blobs, r2Objects } from '../../stores/blobs/r2.ts'
import { degrading } from '../../stores/kv/degrading.ts'
import { durableObjectStore, type StoreStub } from '../../stores/kv/durable-object.ts'
import { inProcessStore } from '../../stores/kv/in-process.ts'
import type { SharedStore } from '../../stores/kv/shared-store.ts'
import { upstashStore } from '../../stores/kv/upstash.ts'
import { cloudflareQueue, type QueueBinding } from '../../stores/queue/cloudflare.ts'
import { queueByTopic } from '../../stores/queue/queue-by-topic.ts'
import { credentialsOf } from '../../stores/sql/adapters/connection-string.ts'
import { neonSql } from '../../stores/sql/adapters/neon.ts'
import { preparedFirst } from '../../stores/sql/adapters/prepared-first.ts'
import { deadLetterRecords } from '../../stores/sql/dead-letter-records.ts'
import { applySchema } from '../../stores/sql/schema/apply-schema.ts'
import { requireSameSalt } from '../../stores/sql/schema/same-salt.ts'
import type { Sql } from '../../stores/sql/sql.ts'
import { queuedDelivery } from '../../telemetry/delivery/queued-delivery.ts'
import { queuedLane } from '../../telemetry/sinks/lanes/queued-lane.ts'
import type { Sink } from '../../telemetry/sinks/sink.ts'
import { s3Storage } from '../s3-storage.ts'
import { isolateHasher } from './password-hasher.ts'
import { workersTransport } from './transport.ts'

/** The time for work after the answer: Workers ends it after 30 s. */
const DEFERRED_MS = 25_000

/** An event has six connections that wait for the head of an answer, as calls of items do for as long as their model
 *  writes, and probes and posts at far ends that hang. Two are left to the stores, without which leases would run out. */
const CALLS_AT_ONCE = 4

/** A quarter of the 128 MB of an isolate. A body is there several times: as it came, read, changed, and sent. An isolate
 *  that needs more is thrown away, with the calls of all its clients. */
const ROOM_FOR_BODIES = 32 * 1024 * 1024

/** An event of a sink waits for others as long as its queue gathers: a minute in `wrangler.toml`, the most that a queue
 *  has, or a second. */
const gathersLong = ({ gathering }: Sink) => gathering.ms >= 60_000

/** The bindings of `wrangler.toml`, except for text variables and secrets. */
export interface WorkerBindings {
  readonly QUEUE: QueueBinding
  /** Of the wake-ups of batches alone: what they wake works for minutes, and records would wait behind it. */
  readonly WAKE_UPS: QueueBinding
  /** Of the entries for sinks that write an object a minute; without it they go with all others. */
  readonly LOG_QUEUE?: QueueBinding
  readonly BLOBS: R2BucketBinding
  /** The bucket of the sink s3, where it has no keys of its own. */
  readonly LOGS?: R2BucketBinding
  /** The shared store of a gateway without Redis. */
  readonly SHARED_STORE?: StoreNamespace
  /** Where that is made when it is first asked, as Cloudflare names regions: `weur`, `enam`, … */
  readonly SHARED_STORE_LOCATION?: string
  /** The endpoint of a database that is not Neon's own. */
  readonly DATABASE_HTTP_URL?: string
}

/** Durable Objects by their names. */
export interface StoreNamespace {
  idFromName(name: string): object
  get(id: object, options: { readonly locationHint?: string | undefined }): StoreStub
}

/** The adapters of Cloudflare Workers, all over HTTP or a binding. */
export function workerAdapters(
  config: Config,
  bindings: WorkerBindings,
  schemaText: string,
  log: Log,
): RuntimeAdapters {
  requireKeys(config)
  const sql = relational(config, bindings, schemaText)
  const deadLetters = deadLetterRecords(sql)
  const wakeUps = cloudflareQueue(bindings.WAKE_UPS)
  const queue = queueByTopic(cloudflareQueue(bindings.QUEUE), new Map([[BATCH_TOPIC, wakeUps]]))
  const logQueue = bindings.LOG_QUEUE ? cloudflareQueue(bindings.LOG_QUEUE) : queue
  return {
    host: { runtime: 'Cloudflare Workers', store: 'durable-object' },
    store: sharedStore(config, bindings, log),
    sql,
    blobs: s3Storage(config) ?? r2Blobs(bindings.BLOBS),
    queue,
    transport: workersTransport(),
    passwordHasher: isolateHasher,
    log,
    counting: 'shared',
    defer: waitUntil,
    // An isolate has 128 MB in all.
    callersKept: 2000,
    callsAtOnce: CALLS_AT_ONCE,
    memoryBytes: ROOM_FOR_BODIES,
    delivering: (report) => queuedDelivery({ queue, sql, log, deadLetters, report, defer: waitUntil }),
    boundBucket: bindings.LOGS && r2Objects(bindings.LOGS),
    sinkLane: (sink, counts) =>
      queuedLane(sink, counts, { queue: gathersLong(sink) ? logQueue : queue, log, defer: waitUntil }),
    draining: () => false,
  }
}

/** Throws without keys: Workers has no data folder in which the gateway could keep keys of its own. */
function requireKeys({ general_settings: { master_key, salt_key } }: Config): void {
  if (!master_key) throw new TypeError('On Workers the master key is needed: set the secret GATEWAY_MASTER_KEY.')
  if (!salt_key) throw new TypeError('On Workers the salt key is needed: set the secret GATEWAY_SALT_KEY.')
}

function sharedStore(config: Config, bindings: WorkerBindings, log: Log): SharedStore {
  const { degraded_mode: mode } = config.general_settings
  const store = config.general_settings.redis_url ? redisOverHttp(config) : inObject(bindings)
  const now = () => Date.now()
  return degrading(store, {
    local: () => inProcessStore({ now }),
    mode,
    now,
    log,
    // The runtime ends a request's work with its answer. Without this, checks of a store that is away would never
    // finish.
    defer: waitUntil,
    deferredMs: DEFERRED_MS,
  })
}

function redisOverHttp({ general_settings: { redis_url, redis_token } }: Config): SharedStore {
  const url = redis_url && reveal(redis_url)
  // Checked here: the client's error for another protocol contains the address with its password.
  if (!url?.startsWith('http') || !redis_token) {
    throw new TypeError('On Workers Redis is reached over HTTP: set REDIS_URL (https://…) and REDIS_TOKEN, or neither.')
  }
  // The client refuses the end of a line, which secrets from files have, and quotes the address.
  return upstashStore({ url: new URL(url).href, token: reveal(redis_token) })
}

/** All isolates of a gateway ask one object. */
const OBJECT_NAME = 'gateway'

function inObject({ SHARED_STORE: objects, SHARED_STORE_LOCATION: locationHint }: WorkerBindings): SharedStore {
  if (!objects) {
    throw new TypeError(
      'On Workers a shared store is needed: bind the Durable Object SHARED_STORE as wrangler.toml does, or set REDIS_URL (https://…) and REDIS_TOKEN.',
    )
  }
  return durableObjectStore(() => objects.get(objects.idFromName(OBJECT_NAME), { locationHint }))
}

function relational({ general_settings: settings }: Config, bindings: WorkerBindings, schemaText: string): Sql {
  if (!settings.database_url) throw new TypeError('On Workers a database is needed: set DATABASE_URL (postgres://…).')
  const connectionString = reveal(settings.database_url)
  const { user, database } = credentialsOf(connectionString)
  if (user === '' || database === '') {
    throw new TypeError(
      'On Workers DATABASE_URL must name a user and a database: postgres://user:password@host/database.',
    )
  }
  const fetchEndpoint = bindings.DATABASE_HTTP_URL || undefined
  if (fetchEndpoint && !/^https?:$/.test(URL.parse(fetchEndpoint)?.protocol ?? '')) {
    throw new TypeError('DATABASE_HTTP_URL must be an address that begins with https://.')
  }
  const neon = neonSql({ connectionString, ...(fetchEndpoint ? { fetchEndpoint } : {}) })
  return preparedFirst(neon, async () => {
    await applySchema(neon, schemaText)
    await requireSameSalt(neon, settings)
  })
}
