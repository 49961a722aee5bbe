import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import type { CallCosts } from './call-costs.ts'

const PROGRAM = new URL('./call-costs.ts', import.meta.url).pathname
/** Megabytes that hold everything which the measured calls allocate. */
const YOUNG = 256

// A bound that is passed has its cause in a change on the path of every call. It is raised only for what is worth it.
describe('a governed call beside its sockets', () => {
  let costs: CallCosts
  beforeAll(async () => {
    const flags = ['--expose-gc', `--min-semi-space-size=${YOUNG}`, `--max-semi-space-size=${YOUNG}`]
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, PROGRAM])
    costs = JSON.parse(stdout)
  })

  it('allocates what it needs', () => {
    // Less would say that something was collected between the measurements.
    expect(costs.bytes).toBeGreaterThan(10_000)
    expect(costs.bytes).toBeLessThan(60_000)
  })

  it('makes few promises', () => {
    expect(costs.promises).toBeGreaterThan(5)
    expect(costs.promises).toBeLessThan(35)
  })

  it('starts no timer', () => {
    expect(costs.timers).toBeLessThan(0.1)
  })
})
