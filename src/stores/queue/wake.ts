export interface Wake {
  signal(): void
  /** The number of signals so far; a signal between this and `wait` is not missed. */
  count(): number
  /** Resolves at the first signal after `count`, or after the timeout. */
  wait(count: number, timeoutMs: number): Promise<void>
}

/** Lets a loop sleep until it is signalled. */
export function wake(): Wake {
  let signals = 0
  const sleepers = new Set<() => void>()
  return {
    signal() {
      signals += 1
      for (const rouse of sleepers) rouse()
    },
    count: () => signals,
    async wait(count, timeoutMs) {
      if (signals !== count) return
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
