import type { Abort } from '../../lib/abort.ts'
import { departure } from '../client.ts'

const CAP_MS = 30_000

/** The wait before a retry: doubles with each failure, full jitter, at most 30 s. */
export function backoffMs(baseSeconds: number, failures: number, random: () => number): number {
  return random() * Math.min(CAP_MS, baseSeconds * 1000 * 2 ** (failures - 1))
}

/** Waits; rejects if the client leaves meanwhile. */
export function sleep(milliseconds: number, signal: Abort): Promise<void> {
  if (milliseconds <= 0 && !signal.aborted) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const left = () => {
      clearTimeout(timer)
      reject(departure(signal))
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', left)
      resolve()
    }, milliseconds)
    if (signal.aborted) left()
    else signal.addEventListener('abort', left, { once: true })
  })
}
