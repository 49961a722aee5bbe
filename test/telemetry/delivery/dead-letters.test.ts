import { describe, expect, it } from 'vitest'
import { jsonLog } from '../../../src/lib/log.ts'
import type { QueueMessage } from '../../../src/stores/queue/cloudflare.ts'
import { SqlError } from '../../../src/stores/sql/sql.ts'
import { bufferedDelivery } from '../../../src/telemetry/delivery/buffered-delivery.ts'
import type { Topic } from '../../../src/telemetry/delivery/delivery.ts'
import { queuedDelivery } from '../../../src/telemetry/delivery/queued-delivery.ts'
import { writeQueued } from '../../../src/telemetry/delivery/queued-records.ts'
import type { RecordsMoved } from '../../../src/telemetry/events.ts'
import { noSql } from '../../support/nothing.ts'

interface Entry {
  readonly id: number
}
type Place = 'open' | 'away' | 'full'

/** A database that refuses odd entries, and a place of dead letters that is this test. */
function database() {
  const written: number[] = []
  const dead: { readonly topic: string; readonly id: number; readonly error: string }[] = []
  const events: RecordsMoved[] = []
  const far = { place: 'open' as Place, tries: 0 }
  const topic: Topic<Entry> = {
    name: 'things',
    async write(_, entries) {
      if (entries.some(({ id }) => id % 2 === 1)) throw new SqlError('out of range', '22003')
      written.push(...entries.map(({ id }) => id))
    },
  }
  const options = {
    sql: noSql,
    log: jsonLog('silent', () => {}),
    report: (event: RecordsMoved) => void events.push(event),
    deadLetters: {
      async keep(name: string, entry: object, error: string) {
        far.tries += 1
        if (far.place === 'away') throw new SqlError('no connection', '08006')
        if (far.place === 'full') return false
        dead.push({ topic: name, id: (entry as Entry).id, error })
        return true
      },
    },
  }
  const told = (type: RecordsMoved['type']) =>
    events.filter((event) => event.type === type).reduce((sum, { records }) => sum + records, 0)
  return { written, dead, far, topic, options, told }
}

const letter = (id: number) => ({ topic: 'things', id, error: 'SqlError: out of range' })

describe.each([
  [
    'gathered in a process',
    (options: ReturnType<typeof database>['options']) => bufferedDelivery({ ...options, gatherMs: 1, firstPauseMs: 5 }),
  ],
  [
    'which the queue does not take',
    (options: ReturnType<typeof database>['options']) =>
      queuedDelivery({ ...options, queue: { send: () => Promise.reject(new Error('away')) }, defer: () => {} }),
  ],
])('records that the database refuses, %s', (_, delivering) => {
  function handed(place: Place) {
    const made = database()
    made.far.place = place
    const delivery = delivering(made.options)
    for (const id of [2, 3, 4, 5]) delivery.deliver(made.topic, { id })
    return { ...made, delivery }
  }

  it('are kept as dead letters, once and with the reason; the others are written', async () => {
    const { delivery, written, dead, told } = handed('open')
    expect(await delivery.drain(2000)).toBe(0)
    expect(written.toSorted()).toEqual([2, 4])
    expect(dead.toSorted((a, b) => a.id - b.id)).toEqual([letter(3), letter(5)])
    expect([told('records.dead'), told('records.dropped')]).toEqual([2, 0])
  })

  it('wait while the database is away', async () => {
    const { far, delivery, dead, told } = handed('away')
    await expect.poll(() => far.tries).toBeGreaterThan(2)
    far.place = 'open'
    expect(await delivery.drain(5000)).toBe(0)
    expect(dead.toSorted((a, b) => a.id - b.id)).toEqual([letter(3), letter(5)])
    expect([told('records.dead'), told('records.dropped')]).toEqual([2, 0])
  })

  it('are given up and counted where there is no room for them', async () => {
    const { delivery, dead, told } = handed('full')
    expect(await delivery.drain(2000)).toBe(0)
    expect([dead.length, told('records.dead'), told('records.dropped')]).toEqual([0, 0, 2])
  })
})

describe('records of a queue that the database refuses', () => {
  async function delivered(place: Place) {
    const made = database()
    made.far.place = place
    const outcome = new Map<number, 'ack' | 'retry'>()
    const messages = [2, 3, 4, 5].map(
      (id): QueueMessage => ({
        id: String(id),
        body: { topic: 'records:things', body: { id } },
        attempts: 1,
        ack: () => void outcome.set(id, 'ack'),
        retry: () => void outcome.set(id, 'retry'),
      }),
    )
    await writeQueued(messages, { ...made.options, topics: [made.topic as Topic] })
    return { ...made, outcome: [2, 3, 4, 5].map((id) => outcome.get(id)) }
  }

  it('are dead letters at once, and not after a hundred deliveries', async () => {
    const { dead, outcome, told } = await delivered('open')
    expect(outcome).toEqual(['ack', 'ack', 'ack', 'ack'])
    expect(dead.toSorted((a, b) => a.id - b.id)).toEqual([letter(3), letter(5)])
    expect(told('records.dead')).toBe(2)
  })

  it.each(['away', 'full'] as const)('are delivered again while the place of dead letters is %s', async (place) => {
    const { outcome, told } = await delivered(place)
    expect(outcome).toEqual(['ack', 'retry', 'ack', 'retry'])
    expect(told('records.dead')).toBe(0)
  })
})
