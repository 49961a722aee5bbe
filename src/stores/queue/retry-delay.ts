const FIRST_SECONDS = 2
const LONGEST_SECONDS = 3600

/** How long a message that failed for the nth time waits: doubling, an hour at most. */
export function retryDelaySeconds(attempt: number): number {
  return Math.min(FIRST_SECONDS * 2 ** (attempt - 1), LONGEST_SECONDS)
}
