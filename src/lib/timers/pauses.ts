/** The pauses of a loop, one at a time. */
export interface Pauses {
  pause(ms: number): Promise<void>
  /** Ends the pause that lasts, if there is one. */
  end(): void
}

export function pauses(): Pauses {
  let end: (() => void) | undefined
  return {
    async pause(ms) {
      await new Promise<void>((resolve) => {
        const over = setTimeout(resolve, ms)
        end = () => {
          clearTimeout(over)
          resolve()
        }
      })
      end = undefined
    },
    end: () => end?.(),
  }
}
