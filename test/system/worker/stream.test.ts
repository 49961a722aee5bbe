import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chatInit, configOf, MASTER_KEY } from '../../support/gateway.ts'
import { startUpstream, type Upstream } from '../../support/scripted-upstream.ts'
import { type ReceivedStream, readStream, spokenText } from '../../support/sse.ts'
import { answer, frames, slowBetween, stallAfter } from '../../support/upstream/index.ts'
import { workerModules } from './support/built-once.ts'
import { type Edge, edgeExists, startEdge } from './support/edge.ts'
import { withConfig } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

const MIB = 1024 * 1024
const messages = [{ role: 'user', content: 'Hello' }]

describe.skipIf(!edgeExists())('a stream through workerd', () => {
  let edge: Edge
  let upstream: Upstream
  let worker: Workerd
  /** Silent for longer than the interval of comments, begun first so that the other tests run meanwhile. */
  let thinking: Promise<ReceivedStream>

  beforeAll(async () => {
    upstream = await startUpstream()
    edge = await startEdge()
    const names = ['thinks', 'drips', 'floods']
    const yaml = configOf(upstream.url, Object.fromEntries(names.map((name) => [name, [name]])))
    worker = await startWorkerd(withConfig(await workerModules(), yaml), edge.variables)
    upstream.script('thinks', [answer({ text: 'One two three.' }, slowBetween({ ms: 16_500, only: 3 }))])
    thinking = chat('thinks').then(readStream)
  })
  afterAll(async () => {
    await worker?.stop()
    await edge?.close()
    await upstream?.close()
  })

  const chat = (model: string) =>
    fetch(`${worker.url}/v1/chat/completions`, {
      ...chatInit({ model, messages, stream: true }),
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
    })

  it('arrives as it is sent, event by event', async () => {
    // What follows is never sent: no event can have waited for a later one. The first word is the one that commits.
    for (const frames of [2, 5, 8]) {
      upstream.script('drips', [answer({ text: 'a b c d e f g h' }, stallAfter({ frames }))])
      const stream = await readStream(await chat('drips'), { leaveAfter: frames })
      expect(stream.events).toHaveLength(frames)
      expect(spokenText(stream)).toBe('a b c d e f g h'.slice(0, 2 * frames - 3))
    }
    upstream.script('drips', [answer({ text: 'a b c d e f g h' })])
    const whole = await readStream(await chat('drips'))
    expect(spokenText(whole)).toBe('a b c d e f g h')
    expect(whole.events.at(-1)?.data).toBe('[DONE]')
  })

  it('goes no faster than its client reads', async () => {
    const event = (delta: object, finish: string | null = null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
    const piece = event({ content: 'x'.repeat(65_000) })
    const pieces = [...new Array<string>(3000).fill(piece), event({}, 'stop'), 'data: [DONE]\n\n']
    const length = pieces.reduce((sum, each) => sum + each.length, 0)
    upstream.script('floods', [frames(pieces)])
    await fetch(`${worker.url}/health`)
    const before = await worker.residentBytes()
    const response = await chat('floods')
    const sent = () => upstream.calls('floods')[0]?.bytesSent as number
    await expect
      .poll(
        async () => {
          const earlier = sent()
          await new Promise((resolve) => setTimeout(resolve, 300))
          return sent() - earlier
        },
        { interval: 1 },
      )
      .toBe(0)
    // What has left by now lies in the buffers of two connections, which a kernel grows as it likes, not in the worker.
    expect(sent()).toBeLessThan(length / 2)
    expect((await worker.residentBytes()) - before).toBeLessThan(32 * MIB)
    let received = 0
    let end = ''
    for await (const bytes of response.body as ReadableStream<Uint8Array>) {
      received += bytes.length
      end = (end + new TextDecoder().decode(bytes.subarray(-20))).slice(-20)
    }
    expect(received).toBe(length)
    expect(end).toContain('data: [DONE]\n\n')
  })

  it('shows that it is alive while its provider thinks', async () => {
    const stream = await thinking
    expect(spokenText(stream)).toBe('One two three.')
    expect(stream.events.at(-1)?.data).toBe('[DONE]')
    expect(stream.comments).toHaveLength(1)
    expect(stream.comments[0]?.atMs).toBeGreaterThan(14_000)
    expect(stream.comments[0]?.atMs).toBeLessThan(25_000)
  })
})
