import { expect, it, vi } from 'vitest'
import { waitingLine } from '../../../src/identity/passwords/waiting-line.ts'

it('a waiting line runs in order, and lets nobody wait for too long', async () => {
  vi.useFakeTimers()
  const line = waitingLine({ atOnce: 1, mostWaiting: 3, longestMs: 1000, refused: () => new Error('too long') })
  const ran: string[] = []
  const work = (name: string, ms: number) => () =>
    new Promise<void>((resolve) => {
      ran.push(name)
      setTimeout(resolve, ms)
    })
  const outcomes = [
    line.run(work('a', 600)),
    line.run(work('b', 600)),
    line.run(work('c', 600)),
    line.run(work('d', 1)),
  ].map((one) =>
    one.then(
      () => 'done',
      (error: Error) => error.message,
    ),
  )
  await expect(line.run(work('e', 1))).rejects.toThrow('too long')
  await vi.advanceTimersByTimeAsync(5000)
  expect(await Promise.all(outcomes)).toEqual(['done', 'done', 'too long', 'too long'])
  expect(ran).toEqual(['a', 'b'])
  const last = line.run(work('f', 1))
  await vi.advanceTimersByTimeAsync(1)
  await last
  expect(ran).toEqual(['a', 'b', 'f'])
  vi.useRealTimers()
})
