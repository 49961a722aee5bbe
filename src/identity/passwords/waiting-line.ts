/** Runs work as it comes, so much at once; what comes meanwhile waits, so much and so long. */
export interface WaitingLine {
  /** Throws what `refused` makes where too many wait already, for who would do something before. */
  requireRoom(): void
  /** Throws what `refused` makes where too many wait already, or when it has waited for too long. */
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

  /** The place of what has ended goes to the one that waits for longest. */
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
