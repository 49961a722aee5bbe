import { retention as fileRetention } from './batch/files/retention.ts'
import { expiringKeys } from './identity/expiring-keys.ts'
import { type Job, MINUTELY_JOB } from './lib/job.ts'
import { describeError } from './lib/log.ts'
import { healthChecks } from './pipeline/health/health-checks.ts'
import type { Services } from './services.ts'
import { jobKey } from './stores/kv/keys.ts'
import { SqlError } from './stores/sql/sql.ts'
import { retention as recordRetention } from './telemetry/retention.ts'

/** All enabled jobs. */
export function scheduledJobs(services: Services): readonly Job[] {
  const jobs = [
    healthChecks(services, services.live),
    filling(services),
    ...emails(services),
    ...warning(services),
    ...sweeping(services),
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
