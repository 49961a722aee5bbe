import { retention as fileRetention } from './batch/files/retention.ts'
import { expiringKeys } from './identity/expiring-keys.ts'
import { placeOfSecondFactor } from './identity/second-factor/second-factor.ts'
import { type Job, MINUTELY_JOB } from './lib/job.ts'
import { describeError } from './lib/log.ts'
import { placeOfEmail } from './mail/outbox.ts'
import { placeOfToolServer } from './mcp/stored-tool-server.ts'
import { healthChecks } from './pipeline/health/health-checks.ts'
import { placeOfCredential } from './routing/stored-credential.ts'
import { placeOfModel } from './routing/stored-model.ts'
import type { Services } from './services.ts'
import { jobKey } from './stores/kv/keys.ts'
import { resealing, type SealedPlaces } from './stores/sql/resealing.ts'
import { markOfSalt } from './stores/sql/schema/same-salt.ts'
import { endedDays } from './stores/sql/spend/ended-days.ts'
import { SqlError } from './stores/sql/sql.ts'
import { retention as recordRetention } from './telemetry/retention.ts'

/** All enabled jobs. */
export function scheduledJobs(services: Services): readonly Job[] {
  const jobs = [
    healthChecks(services, services.live),
    filling(services),
    ranking(services),
    ...emails(services),
    ...warning(services),
    ...sweeping(services),
    ...sealingAnew(services),
  ]
  return jobs.filter(({ everySeconds }) => everySeconds > 0)
}

/** Works on batches whose wake-up got lost, where nothing works on them all the time. */
export function batchTurn({ batchWorker, config }: Services): Job {
  const { embeddings_batch_enabled: enabled } = config.general_settings
  return { name: 'batches', everySeconds: enabled ? 60 : 0, run: batchWorker.turn }
}

/** Sends e-mails that the requests which wrote them could not send. */
function emails({ outbox }: Services): Job[] {
  return [
    { name: 'email', everySeconds: outbox.enabled ? 60 : 0, atStart: true, run: outbox.sendDue },
    { name: 'email_sweep', everySeconds: 3600, run: outbox.sweep },
  ]
}

/** Tells of keys that end soon, where anybody listens. */
function warning({ config, sinks, records, telemetry, clock }: Services): Job[] {
  if (!sinks.listenTo('key.expiring')) return []
  return [expiringKeys(config.gateway_settings.key_expiring_days, { records: records.keyNotices, telemetry, clock })]
}

/** The most steps of one run, well below the subrequests that Workers allows for one event. */
const STEPS_A_RUN = 60
const RUN_MS = 50_000

/** Fills tables that are newer than the records from which they are derived. */
function filling({ backfill, clock }: Services): Job {
  return {
    name: MINUTELY_JOB,
    everySeconds: 60,
    atStart: true,
    async run(signal) {
      const until = clock.now() + RUN_MS
      const stopped = new Promise<false>((resolve) =>
        signal.addEventListener('abort', () => resolve(false), { once: true }),
      )
      for (let steps = 0; steps < STEPS_A_RUN && clock.now() < until && !signal.aborted; steps++) {
        // A step may wait for a starting database; stopping must not.
        if (!(await Promise.race([backfill.step(clock.now()), stopped]))) return
      }
    },
  }
}

/** Ranks who has cost most on days that have ended. */
function ranking({ sql, clock }: Services): Job {
  const days = endedDays(sql)
  return {
    name: 'spend_ranking',
    everySeconds: 600,
    atStart: true,
    async run(signal) {
      const until = clock.now() + RUN_MS
      const unranked = await days.unranked(clock.now())
      for (const day of unranked.slice(0, STEPS_A_RUN)) {
        if (clock.now() >= until || signal.aborted) return
        await days.rank(day)
      }
    },
  }
}

/** Removes what has ended: sessions, tokens for new passwords, files, what batches left, and records of their age. */
function sweeping({ records, files, sql, log, config }: Services): Job[] {
  const forgetFiles = fileRetention(files, records.retention, config.general_settings)
  const forgetRecords = recordRetention(sql, config.general_settings, log)
  return [
    { name: 'session_sweep', everySeconds: 3600, run: () => records.sessions.sweep() },
    { name: 'password_reset_sweep', everySeconds: 3600, run: () => records.passwords.sweep() },
    { name: 'file_sweep', everySeconds: 600, run: forgetFiles },
    { name: 'record_sweep', everySeconds: 300, run: forgetRecords },
  ]
}

/** Where what is sealed belongs. */
const PLACES: SealedPlaces = {
  gateway_credential: (row) => placeOfCredential(row as Parameters<typeof placeOfCredential>[0]),
  gateway_model: (row) => placeOfModel(row as Parameters<typeof placeOfModel>[0]),
  gateway_mcp_server: (row) => placeOfToolServer(row as Parameters<typeof placeOfToolServer>[0]),
  gateway_account: ({ account_id: id }) => placeOfSecondFactor(String(id)),
  gateway_email: ({ email_id: id }) => placeOfEmail(String(id)),
}

/** Seals anew what the former salt key has sealed, as long as there is one: a process that still has it in use may seal
 *  under it at any time. */
function sealingAnew({ config, sql, seal, log, clock }: Services): Job[] {
  const { salt_key, salt_key_previous, responses_retention } = config.general_settings
  const [mark, former] = [markOfSalt(salt_key), markOfSalt(salt_key_previous)]
  if (mark === undefined || former === undefined) return []
  const run = resealing(sql, { seal, places: PLACES, former, mark })
  let told = false
  return [
    {
      name: 'salt_key',
      everySeconds: 60,
      atStart: true,
      async run(signal) {
        const until = clock.now() + RUN_MS
        const { resealed, unreadable, isOver } = await run(() => clock.now() < until && !signal.aborted)
        if (resealed > 0) log.info('salt_key.resealed', { resealed, unreadable })
        if (!isOver || (told && resealed === 0)) return
        told = true
        // Answers that are kept for later calls end by themselves.
        const answersUntil = new Date(clock.now() + 1000 * responses_retention).toISOString()
        log.info('salt_key.previous_unneeded', { kept_answers_until: answersUntil, unreadable })
      },
    },
  ]
}

/** Runs a job, unless this or another process has already run it in this interval. Never rejects. */
export async function runOnce({ store, clock, log }: Services, job: Job, signal: AbortSignal): Promise<void> {
  const intervalMs = 1000 * job.everySeconds
  const key = jobKey(job.name, Math.floor(clock.now() / intervalMs))
  try {
    if (await store.putNew(key, '1', 2 * job.everySeconds)) await job.run(signal)
  } catch (error) {
    const level = error instanceof SqlError && error.isAway ? 'warn' : 'error'
    log[level]('job.failed', { job: job.name, error: describeError(error) })
  }
}
