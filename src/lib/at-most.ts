/** Timers with a longer delay fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The result of some work, or undefined if it takes longer than the limit. */
export function atMost<T>(limitMs: number, work: Promise<T>): Promise<{ readonly value: T } | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, Math.min(limitMs, LONGEST_TIMER_MS), undefined)
    work.then(
      (value) => {
        clearTimeout(timer)
        resolve({ value })
      },
      (error) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}
