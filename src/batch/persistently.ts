const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 400

/** Does what a store may refuse for a moment: tries it again after pauses that grow, for less than a second, and rejects
 *  then as the last try did. */
export async function persistently<Result>(
  work: () => Promise<Result>,
  failed: (error: unknown) => void = () => {},
): Promise<Result> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
    try {
      return await work()
    } catch (error) {
      failed(error)
      if (pauseMs > LONGEST_PAUSE_MS) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
