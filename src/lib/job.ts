/** Scheduled work, done once in each interval by one of all processes. */
export interface Job {
  readonly name: string
  /** 0 is never. */
  readonly everySeconds: number
  /** Done as soon as the process has begun as well. */
  readonly atStart?: boolean
  /** Ends early, without harm, when the signal says so. */
  run(signal: AbortSignal): Promise<void>
}
