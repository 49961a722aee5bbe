import { readdirSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Vitals } from '../../../telemetry/metrics/process-gauges.ts'

/** The event loop's delay is that of this time and the part of it that runs now. */
const WINDOW_MS = 30_000
/** How often the delay is taken. */
const RESOLUTION_MS = 20

/** Reads this process's memory, processor time and event loop. The delay is measured from now on. */
export function vitals(): () => Vitals {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  let before = 0
  setInterval(() => {
    before = lagOf(delay.percentile(99))
    delay.reset()
  }, WINDOW_MS).unref()
  return () => {
    const { user, system } = process.cpuUsage()
    return {
      residentBytes: told(() => process.memoryUsage.rss()),
      cpuSeconds: (user + system) / 1e6,
      loopLagSeconds: Math.max(before, lagOf(delay.percentile(99))),
      activeResources: process.getActiveResourcesInfo().length,
      openFiles: told(() => readdirSync('/proc/self/fd').length),
    }
  }
}

/** A delay is what exceeds the time from one look to the next. */
const lagOf = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000)

/** undefined where the system does not tell it, or not now: reading it takes a file descriptor. */
function told(read: () => number): number | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
