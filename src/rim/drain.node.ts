import type { Server } from 'node:http'

/** How long running calls may take to end after the process was asked to stop. */
const DRAIN_MS = 30_000

/** Work that was handed over by requests and must be done before the process ends. */
export interface Pending {
  add(work: Promise<unknown>): void
  settled(): Promise<void>
}

export function pendingWork(onError: (error: unknown) => void): Pending {
  const running = new Set<Promise<unknown>>()
  return {
    add(work) {
      const tracked: Promise<unknown> = work.catch(onError).finally(() => running.delete(tracked))
      running.add(tracked)
    },
    async settled() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}

/** Stops accepting, lets what runs finish, cuts what takes too long. */
export async function drain(server: Server, pending: Pending, limitMs = DRAIN_MS): Promise<'drained' | 'cut'> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // A connection that is kept alive becomes idle when its answer ends, some time after `close` looked for idle ones.
  const sweep = setInterval(() => server.closeIdleConnections(), 50)
  const finished = closed.then(() => pending.settled())
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), limitMs)
  })
  const outcome = await Promise.race([finished, late])
  clearTimeout(timer)
  if (outcome === 'late') {
    server.closeAllConnections()
    // Cut calls settle at once; what they leave must still be kept.
    await Promise.race([pending.settled(), new Promise((resolve) => setTimeout(resolve, 2000))])
  }
  clearInterval(sweep)
  return outcome === 'late' ? 'cut' : 'drained'
}
