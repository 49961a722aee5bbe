import { afterEach, describe, expect, it, vi } from 'vitest'
import { newAbort } from '../../../src/lib/abort.ts'
import { GatewayError } from '../../../src/lib/errors.ts'
import type { OpenStream } from '../../../src/pipeline/attempt/attempt.ts'
import type { Call } from '../../../src/pipeline/call.ts'
import type { ClientStream } from '../../../src/pipeline/client.ts'
import { relay } from '../../../src/pipeline/respond/relay.ts'
import type { StreamStep } from '../../../src/providers/provider.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const bytes = new TextEncoder().encode('data: {}\n\n')
const nothing = () => {}
const usage = { inputTokens: 1, outputTokens: 2 } as NonNullable<StreamStep['usage']>

/** What a relay looks at of its call. */
function callOf(): Call {
  return {
    client: { signal: newAbort() },
    endpoint: { errorEvent: () => bytes },
    deadline: performance.now() + 60,
    slots: [],
    holds: [],
    outputCharacters: 0,
    malformedEvents: 0,
  } as unknown as Call
}

/** A stream that says these steps, a piece each, and then the last one for ever. */
function streamOf(steps: readonly StreamStep[], read: () => void = nothing) {
  let at = 0
  const stream = {
    body: {
      async read() {
        read()
        return bytes
      },
      cancel: nothing,
    },
    reader: { push: () => [steps[Math.min(at++, steps.length - 1)]], closing: () => bytes },
    endsWithBody: false,
    backlog: [],
    exchange: {
      call: { client: { signal: newAbort() } },
      clocks: { received: nothing, waiting: nothing, finished: nothing, onSilence: nothing, stop: nothing },
      parting: { left: nothing, begun: nothing, complete: nothing, stop: nothing },
      ended: newAbort(),
      sent: {},
      left: nothing,
    },
  }
  return stream as unknown as OpenStream
}

function clientOf(write: ClientStream['write']) {
  const abort = vi.fn()
  return { readable: new ReadableStream(), write, close: async () => {}, abort } satisfies ClientStream
}

it('does not wait for ever for the formal end of a provider that says only that it is there, but for its usage', async () => {
  let now = 1000
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  let reads = 0
  const ping: StreamStep = { out: bytes }
  const call = callOf()
  const stream = streamOf([{ out: bytes, finished: true }, ping, ping, ping, { usage }, ping], () => {
    now += 1000
    reads += 1
    if (reads > 100) throw new Error('still read')
  })
  expect(
    await relay(
      call,
      stream,
      clientOf(() => undefined),
      () => undefined,
    ),
  ).toBeUndefined()
  expect(call.usage).toBe(usage)
  expect(reads).toBeLessThan(20)
})

it.each([
  ['of a complete answer', { out: bytes, finished: true as const }],
  ['of one that failed', { failure: new GatewayError('upstream_failed', 'The provider failed.') }],
])('breaks off where its client does not take the end %s', async (_, step) => {
  vi.useFakeTimers()
  const call = callOf()
  const taking = 'finished' in step ? 2 : 1
  let written = 0
  const client = clientOf(() => (written++ < taking ? undefined : new Promise<void>(() => {})))
  const stream = streamOf([step])
  let read = 0
  Object.assign(stream.body, { read: async () => (read++ < 1 ? bytes : undefined) })
  const first = { ...stream, backlog: [{ out: bytes }] }
  let ended = false
  const relayed = relay(call, first, client, () => undefined).then(() => (ended = true))
  await vi.advanceTimersByTimeAsync(10_000)
  expect(ended).toBe(true)
  expect(client.abort).toHaveBeenCalled()
  await relayed
})

it('counts an event that comes in pieces as memory, and breaks off where there is none for it', async () => {
  const call = callOf()
  let counted = 0
  const add = (more: number) => {
    counted += more
    if (counted > 5 * bytes.byteLength) throw new GatewayError('overloaded', 'The memory is used up.')
  }
  const release = vi.fn()
  Object.assign(call, { footprint: { add, release } })
  const [small, long] = [Array(3).fill(undefined), Array(9).fill(undefined)]
  const pieces = [...small, { out: bytes }, ...small, { out: bytes }, ...long]
  const stream = streamOf([])
  Object.assign(stream.body, { read: async () => (pieces.length > 0 ? bytes : undefined) })
  Object.assign(stream.reader, { push: () => [pieces.shift()].filter((step) => step !== undefined) })
  const failure = await relay(
    call,
    stream,
    clientOf(() => undefined),
    () => undefined,
  )
  expect(failure?.failure).toBe('overloaded')
  // Before its end is written: other streams need the memory.
  expect(release).toHaveBeenCalledOnce()
  expect(pieces.length).toBe(3)
})

describe('when its client has left', () => {
  const leaves = (call: Call) => (call.client.signal as ReturnType<typeof newAbort>).abort()

  it('listens until it has been told what the answer has used, and writes nothing', async () => {
    const call = callOf()
    let written = 0
    const client = clientOf(() => {
      written += 1
      if (written === 1) leaves(call)
      return undefined
    })
    const stream = streamOf([
      { out: bytes, characters: 5 },
      { out: bytes, characters: 5 },
      { out: bytes, finished: true },
      { usage },
      { out: bytes, done: true },
    ])
    const failure = await relay(call, stream, client, () => undefined)
    expect(failure?.failure).toBe('client_closed')
    expect(call.usage).toBe(usage)
    expect(call.outputCharacters).toBe(10)
    expect(written).toBe(1)
  })

  it.each([
    ['is never taken', () => new Promise<void>(() => {})],
    ['is refused', () => Promise.reject(new Error('gone'))],
  ])('goes on, though what it writes %s', async (_, last) => {
    const call = callOf()
    let written = 0
    const client = clientOf(() => {
      written += 1
      setTimeout(() => leaves(call), 5)
      return last()
    })
    const stream = streamOf([{ out: bytes, characters: 5 }, { out: bytes, finished: true }, { usage }])
    expect((await relay(call, stream, client, () => undefined))?.failure).toBe('client_closed')
    expect(call.usage).toBe(usage)
    expect(written).toBe(1)
  })

  it('listens on, though it left while keep-alives waited to be taken, behind which nothing can be written', async () => {
    const call = callOf()
    const stream = streamOf([{ out: bytes, finished: true }, { usage }])
    let show = nothing
    Object.assign(stream.exchange.clocks, {
      onSilence: (shown: () => void) => {
        show = shown
      },
    })
    let reads = 0
    Object.assign(stream.body, {
      async read() {
        if (reads++ === 0) {
          show()
          setTimeout(() => leaves(call), 5)
        }
        return bytes
      },
    })
    let written = 0
    // A refusal that nobody hears would end the process, as it does this run.
    const client = clientOf(() => (written++ === 0 ? new Promise(() => {}) : Promise.reject(new Error('gone'))))
    expect((await relay(call, stream, client, () => undefined))?.failure).toBe('client_closed')
    expect(call.usage).toBe(usage)
  })
})

describe('when the gateway ends the call of a client that reads slowly', () => {
  /** Ends the call while the first piece waits to be taken, and `came` have come behind it. Resolves with what was
   *  written, by its length, and with the failure. */
  async function cut(came: readonly StreamStep[]) {
    const call = callOf()
    const stream = streamOf(came)
    const reason = new GatewayError('shutting_down', 'The process was stopped.')
    let left = came.length
    Object.assign(stream.body, {
      async read() {
        if (left-- === 0) throw reason
        return bytes
      },
    })
    const written: number[] = []
    const client = clientOf((piece) => {
      if (written.push(piece.byteLength) > 1) return undefined
      setTimeout(() => {
        stream.exchange.ended.abort(reason)
        ;(call.client.signal as ReturnType<typeof newAbort>).abort(reason)
      })
      return new Promise(() => {})
    })
    const first = { ...stream, backlog: [{ out: new Uint8Array(1) }] }
    return { failure: await relay(call, first, client, () => undefined), written }
  }
  const piece = (length: number) => ({ out: new Uint8Array(length) })

  it('still gives it the rest of an answer that has come as a whole', async () => {
    const { failure, written } = await cut([piece(2), { ...piece(3), finished: true }, { ...piece(4), done: true }])
    expect(failure).toBeUndefined()
    expect(written).toEqual([1, 2, 3, 4])
  })

  it('tells it of that behind what has come of any other', async () => {
    const { failure, written } = await cut([piece(2), piece(3)])
    expect(failure?.failure).toBe('shutting_down')
    expect(written).toEqual([1, 2, 3, bytes.byteLength])
  })
})
