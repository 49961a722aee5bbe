let waiting: (() => unknown)[] = []

/** Does work when every socket that is ready has been read, with all that waits by then, in the order in which it came.
 *  Read, decided and written call by call, each call finds in the processor's caches what the one before has displaced, and
 *  takes up to twice the time. */
export function afterReads(work: () => unknown): void {
  if (waiting.push(work) === 1) setImmediate(workAll)
}

function workAll(): void {
  const all = waiting
  waiting = []
  for (const work of all) work()
}
