import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { jsonLog } from '../../../src/lib/log.ts'
import type { Backlogs } from '../../../src/stores/backlog/backlog.ts'
import { folderBacklogs } from '../../../src/stores/backlog/folder.node.ts'
import { SqlError } from '../../../src/stores/sql/sql.ts'
import { type BufferedDeliveryOptions, bufferedDelivery } from '../../../src/telemetry/delivery/buffered-delivery.ts'
import type { Topic } from '../../../src/telemetry/delivery/delivery.ts'
import type { RecordsMoved } from '../../../src/telemetry/events.ts'
import { noSql } from '../../support/nothing.ts'

interface Entry {
  readonly id: number
}
interface Sum {
  readonly fold: string
  readonly ids: readonly number[]
}

/** A database that is this test: it keeps an entry once, and may fail before or after it has. */
class Away extends SqlError {}
type Trouble = 'none' | 'away' | 'unheard' | 'refuses odd ones'

describe('records during an outage', () => {
  const folders: string[] = []
  const opened: Backlogs[] = []
  afterEach(async () => {
    vi.useRealTimers()
    await Promise.all(opened.splice(0).map((one) => one.close()))
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  })
  const newFolder = () => {
    folders.push(mkdtempSync(join(tmpdir(), 'gateway-outage-')))
    return join(folders.at(-1) as string, 'backlog')
  }

  /** What the database has. */
  function database() {
    const rows: number[] = []
    const folds = new Map<string, Sum>()
    const far = { trouble: 'none' as Trouble, rows, folds, calls: 0 }
    const meets = (odd: boolean) => {
      if (far.trouble === 'away') throw new Away('away')
      if (far.trouble === 'refuses odd ones' && odd) throw new SqlError('out of range', '22003')
    }
    const answers = () => {
      if (far.trouble === 'unheard') throw new Away('no answer')
    }
    const sums: Topic<Sum> = {
      name: 'sums',
      async write(_, entries) {
        await wait(1)
        meets(false)
        for (const one of entries) if (!folds.has(one.fold)) folds.set(one.fold, one)
        answers()
      },
    }
    let serial = 0
    const things: Topic<Entry> = {
      name: 'things',
      async write(_, entries) {
        far.calls += 1
        await wait(1)
        meets(entries.some(({ id }) => id % 2 === 1))
        for (const { id } of entries) if (!rows.includes(id)) rows.push(id)
        answers()
      },
      folding: {
        topic: sums as Topic,
        begin() {
          const ids: number[] = []
          serial += 1
          const fold = `${process.pid}-${serial}`
          return {
            get entries() {
              return ids.length
            },
            add: ({ id }) => void ids.push(id),
            end: () => [{ fold, ids }],
          }
        },
        alone: ({ id }) => ({ fold: `alone-${id}`, ids: [id] }),
      },
    }
    const all = () => [...rows, ...[...folds.values()].flatMap(({ ids }) => ids)]
    return { far, things, sums, all }
  }

  function delivering(
    { things, sums }: Pick<ReturnType<typeof database>, 'things' | 'sums'>,
    { folder, maxBytes = 1e9, ...options }: Partial<BufferedDeliveryOptions> & { folder?: string; maxBytes?: number },
  ) {
    const events: RecordsMoved[] = []
    const lines: Record<string, unknown>[] = []
    const log = jsonLog('debug', (line) => lines.push(JSON.parse(line)))
    const backlogs = folder ? folderBacklogs({ folder, maxBytes, reserved: new Set(['sums']), log }) : undefined
    if (backlogs) opened.push(backlogs)
    const delivery = bufferedDelivery({
      sql: noSql,
      log,
      report: (event) => events.push(event),
      topics: [things as Topic, sums as Topic],
      ...(backlogs ? { backlogs } : {}),
      gatherMs: 10,
      spillMs: 40,
      firstPauseMs: 5,
      longestPauseMs: 40,
      ...options,
    })
    return {
      delivery,
      lines,
      hand: (count: number, from = 0) => {
        for (let id = from; id < from + count; id++) delivery.deliver(things, { id })
      },
      told: (type: RecordsMoved['type']) =>
        events.filter((event) => event.type === type).reduce((sum, { records }) => sum + records, 0),
      /** The longest wait of written records. */
      longestMs: () =>
        Math.max(...events.filter(({ type }) => type === 'records.written').map(({ waitedMs }) => waitedMs)),
      async stop() {
        const lost = await delivery.drain(100)
        await backlogs?.close()
        return lost
      },
    }
  }
  const ids = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index)
  const inOrder = (numbers: readonly number[]) => [...numbers].sort((one, other) => one - other)

  it('of a process that ends get the room that was left for them on a full disk: none is lost', async () => {
    const base = database()
    const folder = newFolder()
    const log = jsonLog('error', () => {})
    const disk = folderBacklogs({ folder, maxBytes: 1e9, reserved: new Set(['sums']), log })
    opened.push(disk)
    await expect.poll(() => existsSync(`${folder}.reserve`)).toBe(true)
    let full = true
    const backlogs: Backlogs = {
      ...disk,
      of(topic) {
        const own = disk.of(topic)
        const append = async (some: readonly object[]) => (full ? 0 : own.append(some))
        return Object.create(own, { append: { value: append } })
      },
      makeRoom() {
        full = !disk.makeRoom()
        return !full
      },
    }
    base.far.trouble = 'away'
    const { hand, stop } = delivering(base, { backlogs, capacity: 50 })
    hand(80)
    expect(await stop()).toBe(0)
    await disk.close()

    base.far.trouble = 'none'
    const next = delivering(base, { folder })
    await expect.poll(() => inOrder(base.all())).toEqual(ids(80))
    expect(await next.stop()).toBe(0)
  })

  it('go to disk, and come from there in their order, each once', async () => {
    const base = database()
    const { hand, told, delivery } = delivering(base, { folder: newFolder(), capacity: 2000 })
    base.far.trouble = 'away'
    for (let from = 0; from < 3000; from += 100) {
      hand(100, from)
      await wait(20)
    }
    expect(told('records.kept')).toBeGreaterThan(2500)
    expect(delivery.depth('things')).toBe(3000)
    expect(delivery.lagMs?.('things')).toBeGreaterThanOrEqual(600)
    base.far.trouble = 'none'
    hand(100, 3000)
    await expect.poll(() => base.far.rows.length, { timeout: 10_000 }).toBe(3100)
    expect(base.far.rows).toEqual(ids(3100))
    expect([told('records.dropped'), told('records.folded'), delivery.depth('things')]).toEqual([0, 0, 0])
    expect(delivery.lagMs?.('things')).toBe(0)
  })

  it('go to disk in time also where the clock is set back by an hour meanwhile', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const base = database()
    const { hand, told, delivery } = delivering(base, { folder: newFolder() })
    base.far.trouble = 'away'
    hand(10)
    vi.setSystemTime(Date.now() - 3_600_000)
    await expect.poll(() => told('records.kept'), { timeout: 2000 }).toBe(10)
    expect(delivery.lagMs?.('things')).toBeGreaterThan(0)
  })

  it('are written once by a database that is only slow, though they went to disk meanwhile', async () => {
    const base = database()
    const { hand, told, delivery } = delivering(base, { folder: newFolder(), batchSize: 100 })
    const write = base.things.write
    const written: number[] = []
    base.things.write = async (sql, entries) => {
      await wait(120)
      await write(sql, entries)
      written.push(...entries.map(({ id }) => id))
    }
    for (let from = 0; from < 1000; from += 50) {
      hand(50, from)
      await wait(20)
    }
    await expect.poll(() => base.far.rows.length, { timeout: 10_000 }).toBe(1000)
    expect(told('records.kept')).toBeGreaterThan(100)
    expect(written).toEqual(ids(1000))
    await expect.poll(() => delivery.depth('things')).toBe(0)
  })

  it('go on to the next process, whether it was asked to end or was killed', async () => {
    const base = database()
    const folder = newFolder()
    base.far.trouble = 'away'
    const first = delivering(base, { folder })
    first.hand(50)
    expect(await first.stop()).toBe(0)
    const second = delivering(base, { folder })
    second.hand(50, 50)
    await expect.poll(() => second.told('records.kept')).toBe(50)
    // As if killed: nothing is told to anybody, and the folder is free.
    await opened.at(-1)?.close()
    base.far.trouble = 'none'
    const third = delivering(base, { folder })
    await expect.poll(() => inOrder(base.far.rows)).toEqual(ids(100))
    expect(third.longestMs(), 'their wait counts from when they were found').toBeLessThan(15_000)
    third.hand(50, 100)
    await expect.poll(() => inOrder(base.far.rows)).toEqual(ids(150))
  })

  it('are added up where the disk is full, and no sum counts twice, nor does a row', async () => {
    const base = database()
    const { hand, told, lines } = delivering(base, { folder: newFolder(), maxBytes: 20_000, capacity: 100 })
    base.far.trouble = 'unheard'
    for (let from = 0; from < 6000; from += 100) {
      hand(100, from)
      if (from === 3000) base.far.trouble = 'away'
      await wait(10)
    }
    expect(told('records.folded')).toBeGreaterThan(1000)
    expect(lines.filter(({ event }) => event === 'records.folded')).toHaveLength(1)
    base.far.trouble = 'unheard'
    await wait(200)
    base.far.trouble = 'none'
    await expect.poll(() => base.all().length, { timeout: 10_000 }).toBe(6000)
    expect(inOrder(base.all())).toEqual(ids(6000))
    expect(told('records.dropped')).toBe(0)
  })

  it('are added up in memory where there is no disk', async () => {
    const base = database()
    const { hand, told, delivery, stop } = delivering(base, { capacity: 100 })
    base.far.trouble = 'away'
    hand(10_000)
    expect(delivery.depth('things')).toBe(100)
    expect(told('records.folded')).toBe(9900)
    base.far.trouble = 'none'
    expect(await stop()).toBe(0)
    expect(inOrder(base.all())).toEqual(ids(10_000))
    expect(base.far.folds.size).toBe(1)
  })

  it('are added up, each by itself, where the database takes them in no other way', async () => {
    const base = database()
    const { hand, told } = delivering(base, { folder: newFolder() })
    base.far.trouble = 'refuses odd ones'
    hand(10)
    await expect.poll(() => inOrder(base.all())).toEqual(ids(10))
    expect(inOrder(base.far.rows)).toEqual([0, 2, 4, 6, 8])
    expect(told('records.folded')).toBeGreaterThanOrEqual(5)
    expect(told('records.dropped')).toBe(0)
  })

  it('are lost with the process only where it has no disk', async () => {
    const base = database()
    base.far.trouble = 'away'
    const { hand, stop } = delivering(base, { capacity: 10 })
    hand(30)
    // Ten rows, and one sum.
    expect(await stop()).toBe(11)
  })
})
