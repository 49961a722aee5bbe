import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bufferedLane } from '../../../../src/telemetry/sinks/lanes/buffered-lane.ts'
import { type SinkEntry, SinkFailure } from '../../../../src/telemetry/sinks/sink.ts'
import { entries, entry, sinkBench } from '../sink-bench.ts'

const away = () => Promise.reject(new SinkFailure('away', 'it answered 503'))

describe('the way to a sink', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('gathers events until there are enough for a batch, else for a time', async () => {
    const { sink, counts, batches } = sinkBench({ entries: 3, bytes: 1_000_000, ms: 1000 })
    const lane = bufferedLane(sink, counts)
    for (const one of entries(4)) lane.take(one)
    await vi.advanceTimersByTimeAsync(0)
    expect(batches).toEqual([['0', '1', '2']])
    await vi.advanceTimersByTimeAsync(999)
    expect(batches).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(batches).toEqual([['0', '1', '2'], ['3']])
    expect([lane.depth(), counts.state(0).delivered, vi.getTimerCount()]).toEqual([0, 4, 0])
  })

  it('tries again with growing pauses, and as late as the far end asks for', async () => {
    const { sink, counts, batches, far } = sinkBench({ entries: 10, bytes: 1_000_000, ms: 100 })
    const lane = bufferedLane(sink, counts, { random: () => 1, firstPauseMs: 1000, longestPauseMs: 4000 })
    const times: number[] = []
    const begun = Date.now()
    far.answer = () => {
      times.push(Date.now() - begun)
      return times.length === 5 ? Promise.reject(new SinkFailure('away', 'it answered 429', 30)) : away()
    }
    lane.take(entry('0'))
    await vi.advanceTimersByTimeAsync(42_000)
    expect(times).toEqual([100, 1100, 3100, 7100, 11_100, 41_100])
    expect(new Set(batches.flat())).toEqual(new Set(['0']))
    far.answer = async () => ({})
    await vi.advanceTimersByTimeAsync(5000)
    expect([lane.depth(), counts.state(0).delivered, counts.state(0).lastError]).toEqual([0, 1, 'it answered 503'])
  })

  it('halves a batch that is too large, and drops the one event that is', async () => {
    const { sink, counts, batches, far, told } = sinkBench({ entries: 8, bytes: 1_000_000, ms: 100 })
    const lane = bufferedLane(sink, counts)
    far.answer = async (some) => {
      if (some.length > 2 || some.some(({ id }) => id === '3')) throw new SinkFailure('too_large', 'it answered 413')
      return {}
    }
    for (const one of entries(8)) lane.take(one)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(batches.map(({ length }) => length).slice(0, 3)).toEqual([8, 4, 2])
    expect([lane.depth(), told('sink.delivered'), told('sink.dropped')]).toEqual([0, 7, 1])
  })

  it('sends again what the far end left of a batch, and nothing else', async () => {
    const { sink, counts, batches, far } = sinkBench({ entries: 3, bytes: 1_000_000, ms: 100 })
    const lane = bufferedLane(sink, counts)
    far.answer = async (some) =>
      batches.length === 1 ? { again: [some[1] as (typeof some)[number]], refused: 1, answer: 'it answered 207' } : {}
    for (const one of entries(3)) lane.take(one)
    await vi.advanceTimersByTimeAsync(5000)
    expect(batches).toEqual([['0', '1', '2'], ['1']])
    expect(counts.state(0)).toMatchObject({ delivered: 2, dropped: 1, failures: 1 })
  })

  it('goes on past events that the far end never takes, and keeps trying them in pauses of their own', async () => {
    const { sink, counts, batches, far } = sinkBench({ entries: 4, bytes: 1_000_000, ms: 100 })
    const lane = bufferedLane(sink, counts, { random: () => 1, firstPauseMs: 1000, longestPauseMs: 60_000 })
    const isOdd = ({ id }: SinkEntry) => id === '1' || id === '6'
    far.answer = async (some) => {
      const again = some.filter(isOdd)
      if (again.length === some.length) throw new SinkFailure('away', 'it answered 500')
      return { again, answer: 'it answered 500' }
    }
    for (const one of entries(100)) lane.take(one)
    await vi.advanceTimersByTimeAsync(500)
    expect([lane.depth(), counts.state(0).delivered]).toEqual([2, 98])
    // Alone they do not make it wait either.
    for (let minute = 0; minute < 30; minute++) {
      await vi.advanceTimersByTimeAsync(60_000)
      lane.take(entry(`later ${minute}`))
      await vi.advanceTimersByTimeAsync(200)
      expect(counts.state(0).delivered).toBe(98 + minute + 1)
    }
    const tries = batches.flat().filter((id) => id === '1').length
    expect(tries).toBeGreaterThan(30)
    expect(tries).toBeLessThan(45)
    far.answer = async () => ({})
    await vi.advanceTimersByTimeAsync(61_000)
    expect([lane.depth(), counts.state(0).delivered, vi.getTimerCount()]).toEqual([0, 130, 0])
  })

  it('counts what it has set aside towards its room', async () => {
    const { sink, counts, far } = sinkBench({ entries: 4, bytes: 1_000_000, ms: 100 })
    const lane = bufferedLane(sink, counts, { capacity: { entries: 8, bytes: 1_000_000 } })
    far.answer = async ([first, ...others]) => ({ again: others.length > 0 ? others : [first as SinkEntry] })
    for (const one of entries(8)) lane.take(one)
    await vi.advanceTimersByTimeAsync(200)
    const left = lane.depth()
    expect(left).toBeGreaterThan(4)
    for (const one of entries(8, 8)) lane.take(one)
    expect([lane.depth(), counts.state(0).dropped]).toEqual([8, left])
    await lane.drain(100)
    const { delivered, dropped } = counts.state(0)
    expect([lane.depth(), delivered + dropped, vi.getTimerCount()]).toEqual([0, 16, 0])
  })

  it('does not wait for a far end that hangs longer than it may', async () => {
    const { sink, counts, far } = sinkBench()
    const lane = bufferedLane(sink, counts)
    far.answer = () => new Promise(() => {})
    lane.take(entry('0'))
    await vi.advanceTimersByTimeAsync(11_500)
    expect(counts.state(0).lastError).toBe('there was no answer within 10 seconds')
    far.answer = async () => ({})
    await vi.advanceTimersByTimeAsync(2000)
    expect([lane.depth(), counts.state(0).delivered]).toEqual([0, 1])
  })

  it('stays within its bounds for an hour of a dead far end, counts what it drops, and goes on without a restart', async () => {
    const { sink, counts, batches, far, told, lines } = sinkBench({ entries: 500, bytes: 4_000_000, ms: 1000 })
    const lane = bufferedLane(sink, counts, { capacity: { entries: 1000, bytes: 16_000_000 } })
    far.answer = away
    const one = entry('0')
    for (let second = 0; second < 3600; second++) {
      for (let call = 0; call < 200; call++) lane.take(one)
      await vi.advanceTimersByTimeAsync(1000)
      if (second % 600 === 0) expect(lane.depth()).toBeLessThanOrEqual(1000)
    }
    expect(lane.depth()).toBe(1000)
    expect(told('sink.dropped')).toBe(720_000 - 1000)
    // One attempt a minute or so, and a line a minute for each of what failed and what was dropped.
    expect(batches.length).toBeLessThan(130)
    expect(lines.filter(({ event }) => event === 'sink.dropped').length).toBeLessThanOrEqual(61)
    expect(lines.filter(({ event }) => event === 'sink.failed').length).toBeLessThanOrEqual(61)
    const logged = lines.reduce((sum, line) => sum + (line.event === 'sink.dropped' ? (line.entries as number) : 0), 0)
    expect(logged).toBeGreaterThan(700_000)

    far.answer = async () => ({})
    await vi.advanceTimersByTimeAsync(61_000)
    expect([lane.depth(), told('sink.delivered')]).toEqual([0, 1000])
    lane.take(one)
    await vi.advanceTimersByTimeAsync(1000)
    expect([told('sink.delivered'), vi.getTimerCount()]).toEqual([1001, 0])
  })

  it('delivers the thousands that wait for a far end as they were, each once', async () => {
    const { sink, counts, far } = sinkBench({ entries: 700, bytes: 4_000_000, ms: 1000 })
    const lane = bufferedLane(sink, counts)
    far.answer = away
    const content = { request: '{"model":"ü"}', answer: '[1,2]' }
    const given = entries(3000).map((one, index) => (index % 2 ? one : { ...one, content }))
    for (const one of given) lane.take(one)
    await vi.advanceTimersByTimeAsync(500)
    const taken: SinkEntry[] = []
    far.answer = async (some) => {
      // It leaves one of each batch for the next.
      const again = some.length > 1 ? [some[some.length >> 1] as SinkEntry] : []
      taken.push(...some.filter((one) => !again.includes(one)))
      return { again }
    }
    await vi.advanceTimersByTimeAsync(120_000)
    expect([lane.depth(), taken.length]).toEqual([0, 3000])
    const byNumber = taken.toSorted((one, other) => Number(one.id) - Number(other.id))
    expect(JSON.stringify(byNumber)).toBe(JSON.stringify(given))
    expect(byNumber[2000]).toStrictEqual(JSON.parse(JSON.stringify(given[2000])))
  })

  it('has no room from the first event that it drops until its far end takes some', async () => {
    const { sink, counts, far } = sinkBench({ entries: 4, bytes: 1_000_000, ms: 1000 })
    const lane = bufferedLane(sink, counts, { capacity: { entries: 8, bytes: 1_000_000 } })
    far.answer = away
    for (const one of entries(8)) lane.take(one)
    expect(lane.hasRoom()).toBe(true)
    lane.take(entry('9'))
    expect([lane.hasRoom(), lane.depth(), counts.state(0).dropped]).toEqual([false, 8, 1])
    far.answer = async () => ({})
    await vi.advanceTimersByTimeAsync(2000)
    expect([lane.hasRoom(), lane.depth()]).toEqual([true, 0])
  })

  it('drops an event that is larger than all its room, and goes on', async () => {
    const { sink, counts } = sinkBench()
    const lane = bufferedLane(sink, counts, { capacity: { entries: 8, bytes: 50_000 } })
    lane.take({ ...entry('0'), content: { request: 'x'.repeat(50_000), answer: '' } })
    lane.take(entry('1'))
    await vi.advanceTimersByTimeAsync(2000)
    expect(counts.state(lane.depth())).toMatchObject({ queued: 0, delivered: 1, dropped: 1 })
  })

  it('is bounded in bytes too', () => {
    const { sink, counts } = sinkBench({ entries: 1_000_000, bytes: 1_000_000_000, ms: 1000 })
    const lane = bufferedLane(sink, counts, { capacity: { entries: 1_000_000, bytes: 100_000 } })
    for (const one of entries(500)) lane.take(one)
    expect(lane.depth()).toBeGreaterThan(10)
    expect(lane.depth()).toBeLessThan(100)
    expect(lane.depth() + counts.state(0).dropped).toBe(500)
  })
})

describe('a process that stops', () => {
  it('sends what waits, all of it', async () => {
    const { sink, counts, batches } = sinkBench({ entries: 3, bytes: 1_000_000, ms: 60_000 })
    const lane = bufferedLane(sink, counts)
    for (const one of entries(8)) lane.take(one)
    expect(await lane.drain(5000)).toBe(0)
    expect(batches.flat()).toHaveLength(8)
  })

  it('sends the others, too, where the far end does not take one of them', async () => {
    const { sink, counts, batches, far } = sinkBench({ entries: 3, bytes: 1_000_000, ms: 60_000 })
    const lane = bufferedLane(sink, counts)
    far.answer = async (some) => ({ again: some.filter(({ id }) => id === '0') })
    for (const one of entries(8)) lane.take(one)
    expect(await lane.drain(5000)).toBe(1)
    expect(new Set(batches.flat()).size).toBe(8)
    expect(counts.state(lane.depth())).toMatchObject({ queued: 0, delivered: 7, dropped: 1 })
  })

  it('waits for no far end that fails, and no longer than it may for one that hangs', async () => {
    const failing = sinkBench()
    failing.far.answer = away
    const lane = bufferedLane(failing.sink, failing.counts)
    for (const one of entries(5)) lane.take(one)
    const begun = performance.now()
    expect(await lane.drain(60_000)).toBe(5)
    expect(performance.now() - begun).toBeLessThan(15_000)

    const hanging = sinkBench()
    hanging.far.answer = () => new Promise(() => {})
    const other = bufferedLane(hanging.sink, hanging.counts)
    for (const one of entries(5)) other.take(one)
    const since = performance.now()
    expect(await other.drain(200)).toBe(5)
    expect(performance.now() - since).toBeLessThan(15_000)
    expect(hanging.told('sink.dropped')).toBe(5)
    other.take(entry('late'))
    expect([other.depth(), hanging.told('sink.dropped')]).toEqual([0, 6])
  })
})
