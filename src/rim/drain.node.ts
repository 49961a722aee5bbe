import type { Server, ServerResponse } from 'node:http'

/** How long cut calls may take to settle. */
const SETTLE_MS = 2000

/** A connection that is kept alive becomes idle when its answer ends, some time after `close` looked for idle ones. */
const SWEEP_MS = 50

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

/** Answers that have not ended, so that the last one of a connection can say that it is the last. */
export interface OpenAnswers {
  add(outgoing: ServerResponse): void
  /** From now on every answer whose head is still to be sent announces the end of its connection. */
  last(): void
}

export function openAnswers(): OpenAnswers {
  const open = new Set<ServerResponse>()
  let lasts = false
  return {
    add(outgoing) {
      if (lasts) outgoing.shouldKeepAlive = false
      open.add(outgoing)
      outgoing.once('close', () => open.delete(outgoing))
    },
    last() {
      lasts = true
      for (const outgoing of open) outgoing.shouldKeepAlive = false
    },
  }
}

/** Stops accepting, lets what runs finish, cuts what takes too long. */
export async function drain(
  server: Server,
  { answers, pending, limitMs }: { answers: OpenAnswers; pending: Pending; limitMs: number },
): Promise<'drained' | 'cut'> {
  answers.last()
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS)
  const inTime = await within(
    limitMs,
    closed.then(() => pending.settled()),
  )
  if (!inTime) {
    server.closeAllConnections()
    // Cut calls settle at once; what they leave must still be kept.
    await within(SETTLE_MS, pending.settled())
  }
  clearInterval(sweep)
  return inTime ? 'drained' : 'cut'
}

/** Whether the work ended before the time did. */
export async function within(limitMs: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs)
  })
  const outcome = await Promise.race([work.then(() => true as const), late])
  clearTimeout(timer)
  return outcome
}
