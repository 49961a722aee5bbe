import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { newAbort } from '../../../src/lib/abort.ts'
import type { GatewayError } from '../../../src/lib/errors.ts'
import { newParting } from '../../../src/pipeline/respond/parting.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function started() {
  const end = vi.fn()
  const ended = newAbort<GatewayError>()
  ended.addEventListener('abort', end)
  const parting = newParting(newAbort(), ended)
  return { end, parting }
}

it('ends a call at once that has not begun to answer', () => {
  const { end, parting } = started()
  parting.left()
  expect(end).toHaveBeenCalledOnce()
})

it.each([
  ['that is answering soon', ['begun'], 400],
  ['that is complete within a second', ['begun', 'complete'], 900],
] as const)('ends a call %s', (_, reached, ms) => {
  for (const order of [
    [...reached, 'left'],
    ['begun', 'left', ...reached.slice(1)],
  ] as const) {
    const { end, parting } = started()
    for (const step of order) parting[step]()
    vi.advanceTimersByTime(ms - 1)
    expect(end).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(end).toHaveBeenCalledOnce()
    expect(ms).toBeLessThan(1000)
  }
})

it('counts from when the client left, however often that is told', () => {
  const { end, parting } = started()
  parting.begun()
  parting.left()
  vi.advanceTimersByTime(300)
  parting.left()
  parting.complete()
  vi.advanceTimersByTime(599)
  expect(end).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(end).toHaveBeenCalledOnce()
})

it('ends nothing that has ended', () => {
  const { end, parting } = started()
  parting.begun()
  parting.left()
  parting.stop()
  vi.advanceTimersByTime(5000)
  expect(end).not.toHaveBeenCalled()
})
