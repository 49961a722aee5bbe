import { expect, it } from 'vitest'
import { batchWorker } from '../../src/batch/worker.ts'
import { jsonLog } from '../../src/lib/log.ts'
import type { SharedStore } from '../../src/stores/kv/shared-store.ts'
import type { ItemRecords } from '../../src/stores/sql/batches/item-records.ts'
import { testClock } from '../support/clock.ts'

it.each([
  ['is over after twelve minutes', 720_000],
  ['is over although the clock was set back since', -3_600_000],
])('a turn that was ended by the runtime %s', async (_, ms) => {
  const clock = testClock()
  let turns = 0
  const items = {
    advance() {
      turns += 1
      return new Promise(() => {})
    },
  } as unknown as ItemRecords
  const { turn } = batchWorker({
    enabled: true,
    blobs: {},
    items,
    running: () => ({ step: async () => false, wake() {}, abandon: async () => {} }),
    others: [],
    queue: { send: async () => {} },
    store: { remove: async () => {} } as unknown as SharedStore,
    log: jsonLog('silent', () => {}),
    now: clock.now,
  })
  void turn()
  await expect.poll(() => turns).toBe(1)
  await turn()
  expect(turns).toBe(1)
  clock.advance(ms)
  void turn()
  await expect.poll(() => turns).toBe(2)
})
