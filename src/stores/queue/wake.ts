export interface Wake {
  signal(): void
  /** What was heard so far; a signal given between this and `wait` is not missed. */
  heard(): number
  /** Resolves at the first signal after `heard`, or when the time is up. */
  wait(heard: number, timeoutMs: number): Promise<void>
}

/** Lets loops sleep until there is something to do. */
export function wake(): Wake {
  let signals = 0
  const sleepers = new Set<() => void>()
  return {
    signal() {
      signals += 1
      for (const rouse of sleepers) rouse()
    },
    heard: () => signals,
    async wait(heard, timeoutMs) {
      if (signals !== heard) return
      await new Promise<void>((resolve) => {
        const rouse = () => {
          clearTimeout(timer)
          sleepers.delete(rouse)
          resolve()
        }
        const timer = setTimeout(rouse, timeoutMs)
        sleepers.add(rouse)
      })
    },
  }
}
