import { separateTimers, type Timers } from './timers.ts'

/** The result of some work, or undefined if it takes longer than the limit. */
export function atMost<T>(
  limitMs: number,
  work: Promise<T>,
  timers: Timers = separateTimers,
): Promise<{ readonly value: T } | undefined> {
  return new Promise((resolve, reject) => {
    const timer = timers.after(limitMs, () => resolve(undefined))
    work.then(
      (value) => {
        timers.stop(timer)
        resolve({ value })
      },
      (error) => {
        timers.stop(timer)
        reject(error)
      },
    )
  })
}
