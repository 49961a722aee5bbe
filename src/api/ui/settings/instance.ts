import * as z from 'zod'
import { MINUTELY_JOB } from '../../../lib/job.ts'
import { lazily } from '../../../lib/lazily.ts'
import { jobKey } from '../../../stores/kv/keys.ts'
import type { SharedStore } from '../../../stores/kv/shared-store.ts'
import { type InstanceFacts, instanceFacts } from '../../../stores/sql/instance-facts.ts'
import { topics } from '../../../telemetry/topics.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { VERSION } from '../../version.ts'

const PING_MS = 1500
const MINUTE_MS = 60_000

const reached = () => ({
  ok: z.boolean(),
  latency_ms: z.number().nullable().describe('Of one ping; null: no answer within 1.5 s.'),
})

const answer = lazily(() =>
  z.object({
    version: z.string(),
    runtime: z.string(),
    processes: z
      .int()
      .nullable()
      .describe('Of this group of processes; null where the platform starts them as needed.'),
    started_at: z.iso.datetime().nullable().describe('Of the process that answers.'),
    store: z.object({
      kind: z.enum(['redis', 'durable-object', 'in-process']),
      mode: z.enum(['shared', 'local', 'degraded']),
      degraded_mode: z.enum(['fail_open', 'fail_closed']),
      ...reached(),
    }),
    database: z.object({
      kind: z.enum(['postgresql', 'embedded']),
      version: z.string().nullable(),
      ...reached(),
    }),
    schema: z
      .object({ version: z.string().describe('SHA-256 of its text.'), applied_at: z.iso.datetime() })
      .nullable()
      .describe('null: the database is away.'),
    queue: z
      .object({ waiting: z.int(), dead: z.int(), oldest_sent_at: z.iso.datetime().nullable() })
      .nullable()
      .describe("Work in the database's queue, counted to 10,000; a platform's own queue shows it itself."),
    records_waiting: z
      .record(z.string(), z.int())
      .describe('Records that wait in this process for the database, by kind.'),
    clock_ran_at: z.iso
      .datetime()
      .nullable()
      .describe('The minute in which work by the clock last ran; null: in neither this minute nor the last.'),
    draining: z.boolean(),
  }),
)

export const instance = defineRoute(
  {
    method: 'get',
    path: '/ui/api/instance',
    summary: 'This installation: version, runtime, stores with their latency, schema and queue.',
    tag: 'Configuration',
    auth: 'admin',
    permission: 'config.read',
    responses: { 200: { description: 'As it is now.', schema: answer } },
  },
  async ({ services }) => {
    const { store, sql, config, delivery, host, clock } = services
    const { redis_url, database_url, degraded_mode } = config.general_settings
    const [storePing, databasePing, facts, clockRanAt] = await Promise.all([
      latencyOf(store),
      latencyOf(sql),
      instanceFacts(sql).catch((): InstanceFacts | undefined => undefined),
      lastRun(store, clock.now()),
    ])
    // Workers do not know when they started.
    const begun = performance.timeOrigin
    return json({
      version: VERSION,
      runtime: host?.runtime ?? 'unknown',
      processes: host?.processes ?? null,
      started_at: begun > 0 ? new Date(begun).toISOString() : null,
      store: {
        kind: redis_url ? 'redis' : (host?.store ?? 'in-process'),
        mode: store.mode(),
        degraded_mode,
        ...storePing,
      },
      database: {
        kind: database_url ? 'postgresql' : 'embedded',
        version: facts?.server_version ?? null,
        ...databasePing,
      },
      schema: facts?.schema ?? null,
      queue: facts?.queue ?? null,
      records_waiting: Object.fromEntries(topics.map(({ name }) => [name, delivery.depth(name)])),
      clock_ran_at: clockRanAt,
      draining: services.draining(),
    } satisfies z.output<ReturnType<typeof answer>>)
  },
)

async function latencyOf(dependency: { ping(timeoutMs: number): Promise<void> }) {
  const begun = performance.now()
  try {
    await dependency.ping(PING_MS)
    return { ok: true, latency_ms: Math.round(10 * (performance.now() - begun)) / 10 }
  } catch {
    return { ok: false, latency_ms: null }
  }
}

/** Each run of a job leaves a mark of its interval for two intervals. */
async function lastRun(store: Pick<SharedStore, 'get'>, now: number): Promise<string | null> {
  const minute = Math.floor(now / MINUTE_MS)
  for (const candidate of [minute, minute - 1]) {
    const mark = await store.get(jobKey(MINUTELY_JOB, candidate)).catch(() => undefined)
    if (mark !== undefined) return new Date(candidate * MINUTE_MS).toISOString()
  }
  return null
}
