import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { afterReads } from '../../../src/lib/timers/after-reads.node.ts'

it('does what waits in the order in which it came, and what that adds after the next reads', async () => {
  const told: string[] = []
  afterReads(() => {
    told.push('first')
    afterReads(() => told.push('added'))
  })
  afterReads(() => told.push('second'))
  expect(told).toEqual([])
  await nextTurn()
  expect(told).toEqual(['first', 'second'])
  await nextTurn()
  expect(told).toEqual(['first', 'second', 'added'])
})
