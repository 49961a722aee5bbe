/** The signals on which the gateway stops: an operator's, an interrupt's, and that of a terminal that is closed. */
const STOPS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

type Stop = (signal: NodeJS.Signals) => void

let present: Stop | undefined

/** Lets `stop` answer the signals, in place of what answered them before. */
export function onStop(stop: Stop): void {
  for (const signal of STOPS) {
    // In this order: a signal that has come is lost with the last listener.
    process.on(signal, stop)
    if (present) process.off(signal, present)
  }
  present = stop
}

/** Lets the first process of a container end on a signal while it is still being loaded. The system ends others by itself,
 *  but gives the first only signals that it listens to. */
export function endWhileLoading(): void {
  if (process.pid === 1) onStop(() => process.exit(0))
}
