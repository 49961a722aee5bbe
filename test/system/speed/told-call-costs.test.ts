import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import type { ToldCosts } from './told-call-costs.ts'

const PROGRAM = new URL('./told-call-costs.ts', import.meta.url).pathname

// Printed as texts and rows, of objects and lists of their own, it was three times as much.
it('a call is told of without much garbage, and without a timer of its own', async () => {
  const young = ['--min-semi-space-size=128', '--max-semi-space-size=128', '--initial-old-space-size=1024']
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', ...young, PROGRAM])
  const { bytes, timers } = JSON.parse(stdout) as ToldCosts
  // Less would say that something was collected meanwhile.
  expect(bytes).toBeGreaterThan(500)
  expect(bytes).toBeLessThan(3500)
  expect(timers).toBeLessThan(0.1)
})
