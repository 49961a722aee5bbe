import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { CallCosts } from './call-costs.ts'

const PROGRAM = new URL('./call-costs.ts', import.meta.url).pathname

/** Measures so many calls with a young generation of so many megabytes, in a heap that is not collected as a whole. */
async function measured(calls: number, young: number): Promise<CallCosts> {
  const size = [`--min-semi-space-size=${young}`, `--max-semi-space-size=${young}`, '--initial-old-space-size=1024']
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', ...size, PROGRAM, String(calls)])
  return JSON.parse(stdout)
}

// A bound that is passed has its cause in a change on the path of every call. It is raised only for what is worth it.
describe('a governed call beside its sockets', () => {
  it('allocates what it needs, in few promises and without a timer', async () => {
    const { bytes, promises, timers } = await measured(500, 256)
    // Less would say that something was collected between the measurements.
    expect(bytes).toBeGreaterThan(10_000)
    expect(bytes).toBeLessThan(44_000)
    expect(promises).toBeGreaterThan(5)
    expect(promises).toBeLessThan(28)
    expect(timers).toBeLessThan(0.1)
  })

  // Some of what a table or a hidden class holds on to: either keeps alive whatever it has ever held.
  it('leaves next to nothing behind for a collection of the whole heap', async () => {
    const { bytes } = await measured(5000, 1)
    expect(bytes).toBeLessThan(2000)
  })
})
