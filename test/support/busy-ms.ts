/** How long a piece of work keeps its thread busy. What else runs on the machine does not count, nor that it stands still. */
export function busyMs(work: () => void): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
