import { describe, expect, it } from 'vitest'
import type { QueueMessage } from '../../../../src/stores/queue/cloudflare.ts'
import { encodeBody } from '../../../../src/stores/queue/message-body.ts'
import type { Message } from '../../../../src/stores/queue/queue.ts'
import { retryDelaySeconds } from '../../../../src/stores/queue/retry-delay.ts'
import { carriesEntry, deliverQueued, sinkMessage } from '../../../../src/telemetry/sinks/lanes/queued-entries.ts'
import { queuedLane } from '../../../../src/telemetry/sinks/lanes/queued-lane.ts'
import { type SinkEntry, SinkFailure } from '../../../../src/telemetry/sinks/sink.ts'
import { testClock } from '../../../support/clock.ts'
import { entries, entry, sinkBench } from '../sink-bench.ts'

function lane() {
  const bench = sinkBench()
  const sent: (readonly Message[])[] = []
  const deferred: Promise<unknown>[] = []
  const queue = { accept: async (): Promise<void> => {} }
  const clock = testClock()
  const made = queuedLane(bench.sink, bench.counts, {
    queue: {
      async send(messages) {
        await queue.accept()
        sent.push(messages)
      },
    },
    log: bench.log,
    defer: (work) => void deferred.push(work),
    now: clock.now,
  })
  const ids = () => sent.map((messages) => messages.map(({ body }) => (body as SinkEntry).id))
  return { ...bench, lane: made, queue, clock, deferred, ids, sent }
}

describe('events that go over a queue', () => {
  it('go at once, and those that come meanwhile go together', async () => {
    const { lane: way, queue, deferred, ids, sent, batches } = lane()
    const accepted = Promise.withResolvers<void>()
    queue.accept = () => accepted.promise
    for (const one of entries(3)) way.take(one)
    expect([deferred.length, way.depth()]).toEqual([1, 3])
    accepted.resolve()
    await Promise.all(deferred)
    expect([ids(), way.depth()]).toEqual([[['0'], ['1', '2']], 0])
    expect(sent[0]?.[0]?.topic).toBe('sink:far')
    expect(batches).toEqual([])
    way.take(entry('3'))
    expect(deferred).toHaveLength(2)
    await Promise.all(deferred)
    expect(ids()[2]).toEqual(['3'])
  })

  it.each([5000, -3_600_000])(
    'are sent by another when their request was ended, and the clock moved by %i',
    async (ms) => {
      const { lane: way, queue, clock, deferred, ids } = lane()
      queue.accept = () => new Promise(() => {})
      way.take(entry('0'))
      queue.accept = async () => {}
      clock.advance(ms)
      way.take(entry('1'))
      await deferred[1]
      expect(ids()).toEqual([['0', '1']])
    },
  )

  it('go to the far end where the queue is away, and are dropped and counted where that is away too', async () => {
    const { lane: way, queue, deferred, batches, told, far } = lane()
    queue.accept = () => Promise.reject(new Error('away'))
    way.take(entry('0'))
    await Promise.all(deferred)
    expect([batches, told('sink.delivered')]).toEqual([[['0']], 1])
    far.answer = () => Promise.reject(new SinkFailure('away', 'it answered 503'))
    way.take(entry('1'))
    await Promise.all(deferred)
    expect([told('sink.dropped'), way.depth()]).toEqual([1, 0])
  })

  it.each([
    ['words', 'word '],
    ['quotes', '"\\'],
    ['control characters', '\u0001'],
    ['characters of four bytes', '🙂'],
  ])('have their content shortened to what a message holds, be it %s', async (_name, text) => {
    const { lane: way, deferred, sent, batches } = lane()
    const long = JSON.stringify({ role: 'user', content: `begin ${text.repeat(300_000)} end` })
    way.take({ ...entry('0'), content: { request: long, answer: '"Hi"' } })
    await Promise.all(deferred)
    const body = sent[0]?.[0]?.body as SinkEntry
    expect(() => encodeBody(body)).not.toThrow()
    expect(body.content?.answer).toBe('"Hi"')
    expect(JSON.parse(body.content?.request as string).content).toMatch(/^begin .+ characters .+ end$/s)
    expect(batches).toEqual([])
  })

  it('do not fill an isolate whose queue hangs', () => {
    const { lane: way, queue, told } = lane()
    queue.accept = () => new Promise(() => {})
    for (const one of entries(2000)) way.take(one)
    expect(way.depth()).toBeLessThanOrEqual(501)
    expect(way.depth() + told('sink.dropped')).toBe(2000)
  })
})

describe('the consumer of a queue', () => {
  function messagesOf(some: readonly SinkEntry[], sink = 'far', attempts = 3) {
    const outcomes: Record<string, string> = {}
    const messages = some.map((one): QueueMessage => {
      const set = (outcome: string) => {
        outcomes[one.id] = outcome
      }
      return {
        id: one.id,
        // What a queue carries was JSON.
        body: JSON.parse(JSON.stringify(sinkMessage(sink, one))),
        attempts,
        ack: () => set('ack'),
        retry: (options) => set(`retry in ${options?.delaySeconds}`),
      }
    })
    return { messages, outcomes }
  }
  const byName = ({ sink, counts }: ReturnType<typeof sinkBench>) => new Map([[sink.name, { sink, counts }]])

  it('delivers all entries of a sink in one batch', async () => {
    const bench = sinkBench()
    const { messages, outcomes } = messagesOf(entries(3))
    expect(messages.every(carriesEntry)).toBe(true)
    await deliverQueued(messages, byName(bench), bench.log)
    expect([bench.batches, outcomes]).toEqual([[['0', '1', '2']], { 0: 'ack', 1: 'ack', 2: 'ack' }])
    expect(bench.told('sink.delivered')).toBe(3)
  })

  it('leaves to the queue what the far end does not take for now, for as long as it asks', async () => {
    const bench = sinkBench()
    bench.far.answer = () => Promise.reject(new SinkFailure('away', 'it answered 429', 90))
    const { messages, outcomes } = messagesOf(entries(2))
    await deliverQueued(messages, byName(bench), bench.log)
    expect([outcomes, bench.told('sink.dropped')]).toEqual([{ 0: 'retry in 90', 1: 'retry in 90' }, 0])
  })

  it('drops the one entry that is refused, and what belongs to no sink', async () => {
    const bench = sinkBench()
    bench.far.answer = async (some) => {
      if (some.some(({ id }) => id === '2')) throw new SinkFailure('refused', 'it answered 400')
      return {}
    }
    const { messages, outcomes } = messagesOf(entries(4))
    const others = messagesOf([entry('x')], 'gone', 34)
    await deliverQueued([...messages, ...others.messages], byName(bench), bench.log)
    expect({ ...outcomes, ...others.outcomes }).toEqual({ 0: 'ack', 1: 'ack', 2: 'ack', 3: 'ack', x: 'ack' })
    expect([bench.told('sink.delivered'), bench.told('sink.dropped')]).toEqual([3, 1])
  })

  it('leaves what belongs to a sink of a newer version to that for a day', async () => {
    const bench = sinkBench()
    const { messages, outcomes } = messagesOf([entry('x')], 'newer', 33)
    await deliverQueued(messages, byName(bench), bench.log)
    expect(outcomes).toEqual({ x: 'retry in 3600' })
    const days =
      Array.from({ length: 33 }, (_, at) => retryDelaySeconds(at + 1)).reduce((sum, one) => sum + one) / 86_400
    expect(Math.round(days)).toBe(1)
  })
})
