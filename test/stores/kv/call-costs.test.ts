import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, inject, it } from 'vitest'
import type { StoreCosts } from './call-costs.ts'

const PROGRAM = new URL('./call-costs.ts', import.meta.url).pathname

/** Measures with a young generation that holds all that is measured. */
async function measured(...args: string[]): Promise<StoreCosts> {
  const flags = ['--expose-gc', '--min-semi-space-size=128', '--max-semi-space-size=128']
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, PROGRAM, ...args])
  return JSON.parse(stdout)
}

// A bound that is passed has its cause in a change on the path of every call. It is raised only for what is worth it.
describe('the shared store of a governed call', () => {
  it('inside the process, allocates little and waits for nothing', async () => {
    const { bytes, promises, timers } = await measured()
    // Less would say that something was collected between the measurements.
    expect(bytes).toBeGreaterThan(500)
    expect(bytes).toBeLessThan(3000)
    // Those of the measurement, for calls at once.
    expect(promises).toBeLessThan(4.5)
    expect(timers).toBe(0)
  })

  it.skipIf(!inject('redisUrl'))(
    'in Redis, waits for few promises and has no timer of its own',
    async () => {
      const { bytes, promises, timers } = await measured(inject('redisUrl'))
      expect(bytes).toBeGreaterThan(2000)
      expect(bytes).toBeLessThan(22_000)
      expect(promises).toBeLessThan(11)
      expect(timers).toBeLessThan(0.1)
    },
    120_000,
  )
})
