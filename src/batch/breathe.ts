/** Work of about a few milliseconds. */
const BYTES_AT_ONCE = 65_536

/** Lets other work of the process run in between: to be called for each piece of a long work. */
export function breathing(): (bytes: number) => Promise<void> | undefined {
  let since = 0
  return (bytes) => {
    since += bytes
    if (since < BYTES_AT_ONCE) return undefined
    since = 0
    return new Promise((resolve) => setTimeout(resolve, 0))
  }
}
