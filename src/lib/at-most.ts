/** A timer for longer goes off at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/** What comes of some work, or undefined when it does not come in time. */
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
