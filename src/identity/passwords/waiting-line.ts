/** Runs a bounded number of tasks at once. Further ones wait in order, up to a number and a time. */
export interface WaitingLine {
  /** Throws `refused()` if too many wait already, for callers with work to do before theirs is queued. */
  requireRoom(): void
  /** Throws `refused()` if too many wait already, or when the task has waited too long. */
  run<T>(work: () => Promise<T>): Promise<T>
}

interface Waiting {
  start(): void
}

export function waitingLine(options: {
  readonly atOnce: number
  readonly mostWaiting: number
  readonly longestMs: number
  readonly refused: () => Error
}): WaitingLine {
  const { atOnce, mostWaiting, longestMs, refused } = options
  const line = new Set<Waiting>()
  let running = 0

  function requireRoom(): void {
    if (line.size >= mostWaiting) throw refused()
  }

  async function turn(): Promise<void> {
    if (running < atOnce) {
      running += 1
      return
    }
    requireRoom()
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        line.delete(waiting)
        reject(refused())
      }, longestMs)
      const waiting: Waiting = {
        start() {
          clearTimeout(timer)
          resolve()
        },
      }
      line.add(waiting)
    })
  }

  /** Gives the place of an ended task to the one that has waited longest. */
  function next(): void {
    const [first] = line
    if (!first) {
      running -= 1
      return
    }
    line.delete(first)
    first.start()
  }

  return {
    requireRoom,
    async run(work) {
      await turn()
      try {
        return await work()
      } finally {
        next()
      }
    },
  }
}
