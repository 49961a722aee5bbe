/** The model calls of clients in this process, to which work in the background gives way. */
export interface Foreground {
  /** `performance.now()` when the last one arrived. */
  lastAt: number
}

export const foreground = (): Foreground => ({ lastAt: Number.NEGATIVE_INFINITY })
