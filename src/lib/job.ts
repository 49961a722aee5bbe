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
