/** What comes of some work, or undefined when it does not come in time. */
export function atMost<T>(limitMs: number, work: Promise<T>): Promise<{ readonly value: T } | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, limitMs, undefined)
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
