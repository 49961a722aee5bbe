import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { jsonLog } from '../../../src/lib/log.ts'
import type { Message } from '../../../src/stores/queue/queue.ts'
import { SqlError } from '../../../src/stores/sql/sql.ts'
import type { Topic } from '../../../src/telemetry/delivery/delivery.ts'
import { queuedDelivery } from '../../../src/telemetry/delivery/queued-delivery.ts'
import type { RecordsMoved } from '../../../src/telemetry/events.ts'
import { noSql } from '../../support/nothing.ts'

interface Entry {
  readonly id: number
}

/** A way of records whose queue and database are this test. */
function delivering(options: { readonly mostWaiting?: number } = {}) {
  const sent: (readonly Message[])[] = []
  const written: number[][] = []
  const events: RecordsMoved[] = []
  const deferred: Promise<unknown>[] = []
  const far = {
    queue: async (): Promise<void> => {},
    database: (_entries: readonly Entry[]): Error | undefined => undefined,
  }
  const topicOf = (name: string): Topic<Entry> => ({
    name,
    async write(_, entries) {
      const error = far.database(entries)
      if (error) throw error
      written.push(entries.map(({ id }) => id))
    },
  })
  let folds = 0
  const things: Topic<Entry> = {
    ...topicOf('things'),
    folding: {
      topic: topicOf('sums') as unknown as Topic,
      begin() {
        const entries: Entry[] = []
        folds += 1
        const id = 1000 * folds
        return {
          get entries() {
            return entries.length
          },
          add: (entry) => void entries.push(entry),
          end: () => [{ id, of: entries.map((entry) => entry.id) }],
        }
      },
      alone: ({ id }) => ({ id: -id, of: [id] }),
    },
  }
  const others = topicOf('others')
  const delivery = queuedDelivery({
    queue: {
      async send(messages) {
        await far.queue()
        sent.push(messages)
      },
    },
    sql: noSql,
    log: jsonLog('error', () => {}),
    report: (event) => events.push(event),
    defer: (work) => deferred.push(work),
    ...options,
  })
  return {
    sent,
    written,
    deferred,
    far,
    delivery,
    hand: (...ids: number[]) => {
      for (const id of ids) delivery.deliver(id < 100 ? things : others, { id })
    },
    ids: () => sent.map((messages) => messages.map(({ body }) => (body as Entry).id)),
    told: (type: RecordsMoved['type']) =>
      events.filter((event) => event.type === type).reduce((sum, { records }) => sum + records, 0),
  }
}

describe('records that go through a queue', () => {
  afterEach(() => vi.useRealTimers())

  it('go at once, and those that come meanwhile go together, for whom nobody else has to wait', async () => {
    const { hand, ids, far, sent, deferred, delivery } = delivering()
    const first = Promise.withResolvers<void>()
    far.queue = () => first.promise
    hand(1)
    hand(2, 3)
    hand(101)
    expect([delivery.depth('things'), delivery.depth('others')]).toEqual([3, 1])
    expect(deferred).toHaveLength(1)
    first.resolve()
    await Promise.all(deferred)
    expect(ids()).toEqual([[1], [2, 3, 101]])
    expect(sent[1]?.map(({ topic }) => topic)).toEqual(['records:things', 'records:things', 'records:others'])
    expect(delivery.depth('things')).toBe(0)
    hand(4)
    expect(deferred).toHaveLength(2)
    expect([await delivery.drain(1000), ids()]).toEqual([0, [[1], [2, 3, 101], [4]]])
  })

  it('are written at once where the queue does not take them, one statement a topic', async () => {
    const { hand, far, written, told, delivery } = delivering()
    far.queue = async () => {
      await wait(1)
      throw new Error('away')
    }
    hand(1, 2, 3, 101)
    expect(await delivery.drain(1000)).toBe(0)
    expect(written).toEqual([[1], [2, 3], [101]])
    expect([told('records.written'), told('records.dropped')]).toEqual([4, 0])
  })

  it('do not go under with one that the database can never take', async () => {
    const { hand, far, written, told, delivery } = delivering()
    far.queue = () => Promise.reject(new Error('away'))
    far.database = (entries) => (entries.some(({ id }) => id === 3) ? new SqlError('no', '22003') : undefined)
    hand(1, 2, 3, 4)
    await delivery.drain(1000)
    // Of the third, its sums.
    expect(written.flat()).toEqual([1, 2, 4, -3])
    expect([told('records.written'), told('records.folded'), told('records.dropped')]).toEqual([4, 1, 0])
  })

  it('are sent by another when a request that sends for them was ended', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { hand, ids, far, deferred } = delivering()
    far.queue = () => new Promise(() => {})
    hand(1)
    hand(2)
    vi.setSystemTime(Date.now() + 4000)
    hand(3)
    far.queue = async () => {}
    vi.setSystemTime(Date.now() + 2000)
    hand(4)
    await deferred[1]
    // Nobody knows whether the first has arrived.
    expect(ids()).toEqual([[1, 2, 3, 4]])
    expect(deferred).toHaveLength(2)
  })

  it('are sent by another when a request that sends for them was ended, although the clock was set back since', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { hand, ids, far, deferred } = delivering()
    far.queue = () => new Promise(() => {})
    hand(1)
    far.queue = async () => {}
    vi.setSystemTime(Date.now() - 3_600_000)
    hand(2)
    await deferred[1]
    expect(ids()).toEqual([[1, 2]])
  })

  it('wait in the isolate while nobody takes them, and go as soon as somebody does', async () => {
    const { hand, far, sent, ids, told, delivery } = delivering()
    far.queue = () => Promise.reject(new Error('away'))
    far.database = () => new SqlError('The database cannot be reached.')
    hand(1, 2, 101)
    await wait(100)
    hand(3)
    expect([delivery.depth('things'), delivery.depth('others')]).toEqual([3, 1])
    far.queue = async () => {}
    expect(await delivery.drain(0)).toBe(0)
    expect(ids().flat().sort()).toEqual([1, 101, 2, 3])
    expect(sent.flat()).toHaveLength(4)
    expect(told('records.dropped')).toBe(0)
  })

  it('are added up beyond what an isolate can hold, and the sums go with what is sent next', async () => {
    const { hand, far, sent, told, delivery } = delivering({ mostWaiting: 50 })
    far.queue = () => Promise.reject(new Error('away'))
    far.database = () => new SqlError('The database cannot be reached.')
    hand(1)
    await wait(10)
    for (let id = 2; id < 100; id++) hand(id)
    expect(told('records.folded')).toBe(48)
    // Those that perhaps have arrived are never added up.
    expect(delivery.depth('things')).toBe(51)
    // What was heard by nobody may have arrived all the same.
    let unheard = true
    far.queue = async () => {}
    const keep = sent.push.bind(sent)
    sent.push = (...messages) => {
      const length = keep(...messages)
      if (unheard) throw new Error('no answer')
      return length
    }
    await wait(400)
    unheard = false
    await delivery.drain(0)
    const arrived = new Map(sent.flat().map(({ topic, body }) => [`${topic} ${(body as Entry).id}`, body]))
    const of = [...arrived.values()].flatMap((body) => (body as { of?: number[] }).of ?? [(body as Entry).id])
    expect(of.sort((one, other) => one - other)).toEqual(Array.from({ length: 99 }, (_, index) => index + 1))
    expect(arrived.get('records:sums 1000')).toBeDefined()
    expect(told('records.dropped')).toBe(0)
  })

  it('are dropped, and counted, only where they cannot be added up and nothing else can make way', async () => {
    const { hand, delivery, far, told } = delivering({ mostWaiting: 5 })
    far.queue = () => Promise.reject(new Error('away'))
    far.database = () => new SqlError('The database cannot be reached.')
    const audit: Topic<Entry> = { name: 'audit', write: () => Promise.reject<void>(new SqlError('away')) }
    // The first is being sent.
    hand(0, 1, 2, 3)
    for (let id = 0; id < 20; id++) delivery.deliver(audit, { id })
    expect(delivery.depth('audit')).toBe(5)
    expect([told('records.folded'), told('records.dropped')]).toEqual([3, 15])
  })
})
