import type { Job } from './lib/job.ts'
import { describeError } from './lib/log.ts'
import { healthChecks } from './pipeline/health-checks.ts'
import type { Services } from './services.ts'
import { jobKey } from './stores/kv/keys.ts'

/** Everything that is done by the clock and is not off. */
export function scheduledJobs(services: Services): readonly Job[] {
  return [healthChecks(services, services.live)].filter(({ everySeconds }) => everySeconds > 0)
}

/** Does a job, unless this interval's was done already, here or in another process. Never rejects. */
export async function runOnce({ store, clock, log }: Services, job: Job, signal: AbortSignal): Promise<void> {
  const intervalMs = 1000 * job.everySeconds
  const key = jobKey(job.name, Math.floor(clock.now() / intervalMs))
  try {
    if (await store.putNew(key, '1', 2 * job.everySeconds)) await job.run(signal)
  } catch (error) {
    log.error('job.failed', { job: job.name, error: describeError(error) })
  }
}
