/** As much as takes a few milliseconds. */
const BYTES_AT_ONCE = 65_536

/** Lets other work of the process run in between: await it with the size of each piece of a long computation. */
export function yielding(): (bytes: number) => Promise<void> | undefined {
  let since = 0
  return (bytes) => {
    since += bytes
    if (since < BYTES_AT_ONCE) return undefined
    since = 0
    return new Promise((resolve) => setTimeout(resolve, 0))
  }
}
