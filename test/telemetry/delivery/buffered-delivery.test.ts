import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { jsonLog } from '../../../src/lib/log.ts'
import { SqlError } from '../../../src/stores/sql/sql.ts'
import { type BufferedDeliveryOptions, bufferedDelivery } from '../../../src/telemetry/delivery/buffered-delivery.ts'
import type { Topic } from '../../../src/telemetry/delivery/delivery.ts'
import type { RecordsMoved } from '../../../src/telemetry/events.ts'
import { noSql } from '../../support/nothing.ts'

interface Entry {
  readonly id: number
}

/** A way of records whose database is this test. */
function delivering(options: Partial<BufferedDeliveryOptions> = {}) {
  const batches: number[][] = []
  const events: RecordsMoved[] = []
  const lines: Record<string, unknown>[] = []
  let trouble: ((entries: readonly Entry[]) => Error | undefined) | undefined
  const topic: Topic<Entry> = {
    name: 'things',
    async write(_, entries) {
      await wait(2)
      const error = trouble?.(entries)
      if (error) throw error
      batches.push(entries.map(({ id }) => id))
    },
  }
  const delivery = bufferedDelivery({
    sql: noSql,
    log: jsonLog('debug', (line) => lines.push(JSON.parse(line))),
    report: (event) => events.push(event),
    gatherMs: 20,
    firstPauseMs: 5,
    longestPauseMs: 40,
    ...options,
  })
  return {
    batches,
    lines,
    delivery,
    hand: (count: number, from = 0) => {
      for (let id = from; id < from + count; id++) delivery.deliver(topic, { id })
    },
    fail(with_: typeof trouble) {
      trouble = with_
    },
    records: (type: RecordsMoved['type']) =>
      events.filter((event) => event.type === type).reduce((sum, { records }) => sum + records, 0),
    written: () => batches.flat(),
  }
}

const ids = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index)
const away = () => new SqlError('The database cannot be reached.')

describe('records', () => {
  it('are gathered for a while, and written together in their order', async () => {
    const { hand, batches, delivery } = delivering()
    hand(3)
    await wait(5)
    hand(2, 3)
    expect(delivery.depth('things')).toBe(5)
    await expect.poll(() => batches).toEqual([[0, 1, 2, 3, 4]])
    expect(delivery.depth('things')).toBe(0)
  })

  it('are written at once where a batch is full, and never more than that in one', async () => {
    const { hand, batches, written } = delivering({ gatherMs: 60_000, batchSize: 100 })
    hand(450)
    await expect.poll(() => written().length).toBe(400)
    expect(batches.map(({ length }) => length)).toEqual([100, 100, 100, 100])
  })

  it('wait for a database that is away, and all arrive', async () => {
    const { hand, fail, written, lines, records } = delivering()
    fail(away)
    hand(10)
    await wait(60)
    hand(10, 10)
    expect(written()).toEqual([])
    fail(undefined)
    await expect.poll(written).toEqual(ids(20))
    expect(records('records.failed')).toBeGreaterThan(0)
    expect(records('records.dropped')).toBe(0)
    expect(lines.filter(({ event }) => event === 'records.failed')).toHaveLength(1)
  })

  it('take bounded memory meanwhile: what does not fit is dropped, counted, and told of once a second', async () => {
    const { hand, fail, written, lines, records, delivery } = delivering({ capacity: 100 })
    fail(away)
    hand(5000)
    expect(delivery.depth('things')).toBe(100)
    expect(records('records.dropped')).toBe(4900)
    expect(lines.filter(({ event }) => event === 'records.dropped')).toHaveLength(1)
    fail(undefined)
    await expect.poll(written).toEqual(ids(100))
  })

  it('that can never be written are given up, and nobody else with them', async () => {
    const { hand, fail, written, records } = delivering()
    const poison = new Set([3, 77, 78])
    fail((entries) => (entries.some(({ id }) => poison.has(id)) ? new SqlError('out of range', '22003') : undefined))
    hand(100)
    await expect.poll(() => written().length).toBe(97)
    expect(written()).toEqual(ids(100).filter((id) => !poison.has(id)))
    expect(records('records.dropped')).toBe(3)
  })

  it('are all written before the end', async () => {
    const { hand, written, delivery } = delivering({ gatherMs: 60_000, batchSize: 50 })
    hand(120)
    expect(await delivery.drain(1000)).toBe(0)
    expect(written()).toEqual(ids(120))
  })

  it('are written before the end by a database that comes back, however long the pause was', async () => {
    const { hand, fail, written, delivery } = delivering({ firstPauseMs: 20, longestPauseMs: 60_000 })
    fail(away)
    hand(10)
    await wait(200)
    const draining = delivery.drain(2000)
    await wait(30)
    hand(1, 10)
    fail(undefined)
    expect(await draining).toBe(0)
    expect(written()).toEqual(ids(11))
  })

  it('do not hold the end up for longer than they may', async () => {
    const { hand, fail, delivery } = delivering()
    fail(away)
    hand(7)
    const started = performance.now()
    expect(await delivery.drain(100)).toBe(7)
    expect(performance.now() - started).toBeLessThan(15_000)
    fail(undefined)
  })
})
