import type { Job } from '../../../lib/job.ts'

/** Runs jobs by timers of this process until `stop`, which also aborts running jobs. */
export function startTimers(
  jobs: readonly Job[],
  run: (job: Job, signal: AbortSignal) => Promise<void>,
): { stop(): void } {
  const stopping = new AbortController()
  const timers = jobs.map((job) => {
    let running = false
    async function tick(): Promise<void> {
      if (running) return
      running = true
      await run(job, stopping.signal)
      running = false
    }
    if (job.atStart) void tick()
    return setInterval(tick, 1000 * job.everySeconds).unref()
  })
  return {
    stop() {
      for (const timer of timers) clearInterval(timer)
      stopping.abort()
    },
  }
}
