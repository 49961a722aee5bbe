/** Scheduled work, which one of all processes runs once in each interval. */
export interface Job {
  readonly name: string
  /** 0 disables the job. */
  readonly everySeconds: number
  /** Also run at the start of the process. */
  readonly atStart?: boolean
  /** Ends early, without losing work, when the signal aborts. */
  run(signal: AbortSignal): Promise<void>
}

/** A job that is never off and runs once a minute. Its marks in the shared store show that the clock goes. */
export const MINUTELY_JOB = 'backfill'

/** Well below the subrequests that Workers allows for one event. */
const MOST_STEPS = 60
const MOST_MS = 50_000

/** Repeats a step of a job while there is something for it; resolves with the sum of what the steps did. A later run
 *  does the rest. */
export async function repeated(signal: AbortSignal, step: () => Promise<number>): Promise<number> {
  const until = Date.now() + MOST_MS
  let sum = 0
  for (let steps = 0; steps < MOST_STEPS && Date.now() < until && !signal.aborted; steps++) {
    const done = await step()
    if (done === 0) break
    sum += done
  }
  return sum
}
