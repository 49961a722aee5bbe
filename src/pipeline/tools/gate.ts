/** Lets so many pieces of work run at once; further ones wait for their turn, in order. */
export type Gate = <Result>(work: () => Promise<Result>) => Promise<Result>

export function gate(most: number): Gate {
  let free = most
  const waiting: (() => void)[] = []
  return async (work) => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free += 1
    }
  }
}
