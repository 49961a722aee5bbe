import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startUpstream, type Upstream } from './scripted-upstream.ts'
import { chunksOf, readStream, spokenText } from './sse.ts'
import { bodyOf } from './upstream/call.ts'
import * as behaviours from './upstream/index.ts'
import {
  answer,
  type Behaviour,
  badKey,
  comments,
  contextWindowExceeded,
  cutAfter,
  errorBodyWith200,
  errorEvent,
  hangUp,
  htmlPage,
  hugeAnswer,
  lineEnds,
  malformedEvent,
  oneWrite,
  rateLimited,
  recut,
  redirect,
  reset,
  serverError,
  silence,
  slowBetween,
  slowFirstToken,
  slowHeaders,
  stallAfter,
  truncated,
  wrongTypes,
} from './upstream/index.ts'
import { upstreamClient } from './upstream-client.ts'

let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
})
afterAll(() => upstream.close())

let names = 0
const scripted = (...list: Behaviour[]) => {
  const model = `m-${++names}`
  upstream.script(model, list)
  return model
}
const chat = (model: string, fields: Record<string, unknown> = {}, signal: AbortSignal | null = null) =>
  fetch(`${upstream.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'How are you?' }], ...fields }),
    redirect: 'manual',
    signal,
  })
const stream = async (...list: Behaviour[]) =>
  readStream(await chat(scripted(...list), { stream: true, stream_options: { include_usage: true } }))

describe('the true answer', () => {
  const client = () => new OpenAI({ apiKey: 'sk-test', baseURL: `${upstream.url}/v1`, maxRetries: 0 })

  it('satisfies the vendor’s own client: whole, streamed, embeddings, models', async () => {
    const messages = [{ role: 'user' as const, content: 'How are you?' }]
    const whole = await client().chat.completions.create({ model: scripted(answer({ text: 'Fine, 🙂.' })), messages })
    expect(whole.choices[0]?.message.content).toBe('Fine, 🙂.')
    expect(whole.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 })

    const toolCalls = ['a', 'b'].map((id) => ({ id, name: `tool_${id}`, arguments: '{"city":"Zürich","days":3}' }))
    const run = client().chat.completions.stream({ model: scripted(answer({ toolCalls, reasoning: 'hm' })), messages })
    const final = await run.finalChatCompletion()
    expect(final.choices[0]?.finish_reason).toBe('tool_calls')
    expect(final.choices[0]?.message.tool_calls).toMatchObject(
      toolCalls.map(({ id, name, arguments: text }) => ({ id, function: { name, arguments: text } })),
    )

    const input = ['one', 'two words']
    const vectors = (list: { embedding: number[] }[]) => list.map((one) => one.embedding)
    const floats = await client().embeddings.create({ model: 'e', input, dimensions: 4, encoding_format: 'float' })
    const packed = await client().embeddings.create({ model: 'e', input, dimensions: 4 })
    expect(vectors(floats.data)).toHaveLength(2)
    expect(vectors(packed.data)).toEqual(vectors(floats.data))
    expect((await client().models.list()).data.map((model) => model.id)).toContain('m-1')
  })

  it('tells usage in a stream only when it is asked', async () => {
    const asked = chunksOf(await stream(answer()))
    expect(asked.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 3 } })
    const unasked = chunksOf(await readStream(await chat(scripted(answer()), { stream: true })))
    expect(unasked.length).toBe(asked.length - 1)
    expect(unasked.some((chunk) => 'usage' in (chunk as object))).toBe(false)
    expect(chunksOf(await stream(answer({ usage: 'twice' }))).length).toBe(asked.length + 1)
    expect(chunksOf(await stream(answer({ usage: 'zero' }))).at(-1)).toMatchObject({ usage: { total_tokens: 0 } })
    expect(chunksOf(await stream(answer({ usage: 'missing' }))).length).toBe(asked.length - 1)
  })
})

describe('a script', () => {
  it('goes through its behaviours in order and repeats the last; a path prefix goes before a model', async () => {
    const model = scripted(serverError(), rateLimited({ seconds: 2 }), answer())
    const statuses: number[] = []
    for (let turn = 0; turn < 4; turn++) statuses.push((await chat(model)).status)
    expect(statuses).toEqual([500, 429, 200, 200])

    upstream.script('/eu', [badKey()])
    const response = await fetch(`${upstream.url}/eu/v1/chat/completions`, {
      method: 'POST',
      body: `{"model":"${model}"}`,
    })
    expect(response.status).toBe(401)
    expect(upstream.calls('/eu')).toHaveLength(1)
    expect(upstream.calls(model)).toHaveLength(5)
    expect((await fetch(`${upstream.url}/europe/v1/models`)).status).toBe(200)
  })

  it('notes what came, byte for byte, and how it ended', async () => {
    const model = scripted(answer({}, slowBetween({ ms: 20 })))
    await readStream(await chat(model, { stream: true, odd: ['é'] }))
    await readStream(await chat(model, { stream: true }), { leaveAfter: 2 })
    const [whole, left] = await upstream.until(model, (calls) => calls.every((call) => call.endedAt !== undefined))
    expect(whole).toMatchObject({ outcome: 'finished', path: '/v1/chat/completions', method: 'POST' })
    expect(bodyOf(whole as never)).toMatchObject({ odd: ['é'] })
    expect(whole?.headers.host).toBe(new URL(upstream.url).host)
    expect(left?.outcome).toBe('client_closed')
    expect(left?.writes).toBeLessThan(whole?.writes ?? 0)
  })

  it('can be set and read over HTTP', async () => {
    const far = upstreamClient(upstream.url)
    await far.script('far', [contextWindowExceeded(), answer({}, cutAfter({ frames: 1 }))])
    expect((await chat('far')).status).toBe(400)
    expect((await readStream(await chat('far', { stream: true }))).broken).toBeDefined()
    const calls = await far.until(
      'far',
      (list) => list.length === 2 && list.every((call) => call.outcome !== 'running'),
    )
    expect(calls.map((call) => call.outcome)).toEqual(['finished', 'broken_off'])
    expect(bodyOf(calls[0] as never)).toMatchObject({ model: 'far' })
  })
})

describe('faults', () => {
  it('of the connection: reset, hang-up, silence, cut, stall', async () => {
    for (const behaviour of [reset(), hangUp()]) await expect(chat(scripted(behaviour))).rejects.toThrow('fetch failed')
    const quiet = scripted(silence())
    await expect(chat(quiet, {}, AbortSignal.timeout(50))).rejects.toThrow('timeout')
    await upstream.until(quiet, ([call]) => call?.outcome === 'client_closed')

    for (const how of ['close', 'reset'] as const) {
      const cut = await stream(answer({}, cutAfter({ frames: 3, how })))
      expect(cut.broken).toBeDefined()
      expect(cut.events).toHaveLength(3)
      await expect(chat(scripted(answer({}, cutAfter({ frames: 3, how })))).then((one) => one.text())).rejects.toThrow()
    }
    const ended = await stream(answer({}, cutAfter({ frames: 3, how: 'end' })))
    expect([ended.broken, ended.events.length]).toEqual([undefined, 3])
    expect((await stream(answer({}, cutAfter({ bytes: 10, how: 'end' })))).rest).toHaveLength(10)

    const stalled = await chat(
      scripted(answer({}, stallAfter({ frames: 2 }))),
      { stream: true },
      AbortSignal.timeout(80),
    )
    expect(await readStream(stalled)).toMatchObject({ events: { length: 2 }, broken: { name: 'TimeoutError' } })
  })

  it('of time: late headers, late first token, gaps', async () => {
    const started = performance.now()
    const late = await chat(scripted(answer({}, slowHeaders({ ms: 60 }))))
    expect(performance.now() - started).toBeGreaterThan(55)
    await late.text()
    const first = await stream(answer({}, slowFirstToken({ ms: 60 })))
    expect(first.events[0]?.atMs).toBeGreaterThan(40)
    const gap = await stream(answer({}, slowBetween({ ms: 60, only: 2 })))
    expect((gap.events[2]?.atMs ?? 0) - (gap.events[1]?.atMs ?? 0)).toBeGreaterThan(40)
  })

  it('of truth: wrong bodies under a good status', async () => {
    expect(await (await chat(scripted(errorBodyWith200()))).json()).toHaveProperty('error.message')
    expect((await chat(scripted(htmlPage()))).headers.get('content-type')).toContain('text/html')
    expect(await (await chat(scripted(behaviours.emptyBody()))).text()).toBe('')
    expect((await chat(scripted(redirect('https://elsewhere.example/')))).status).toBe(302)
    expect(await (await chat(scripted(answer({}, truncated({ bytes: 40 }))))).text()).toHaveLength(40)
    expect(await (await chat(scripted(answer({}, wrongTypes({}))))).json()).toMatchObject({ choices: { '0': 'none' } })
    expect((await (await chat(scripted(hugeAnswer(3_000_000)))).text()).length).toBeGreaterThan(3_000_000)

    const malformed = await stream(answer({}, malformedEvent(2)))
    expect(() => chunksOf(malformed)).toThrow(SyntaxError)
    expect(malformed.events.at(-1)?.data).toBe('[DONE]')
    const failing = await stream(answer({}, errorEvent(0)))
    expect(failing.events).toHaveLength(1)
    expect(chunksOf(failing)[0]).toHaveProperty('error.type', 'server_error')
    expect((await stream(answer({ done: false }))).events.at(-1)?.data).not.toBe('[DONE]')
    expect((await stream(answer({ finishReason: null }))).text).not.toContain('"finish_reason":"stop"')
  })

  it('of delivery: the same words in other pieces', async () => {
    const text = 'Grüße, 你好, 🙂!'
    const plain = await stream(answer({ text }))
    expect(spokenText(plain)).toBe(text)
    const cuts = [recut({ every: 1 }), recut({ seed: 4 }), recut({ at: [7, 400] }), oneWrite({})]
    for (const cut of cuts) expect(spokenText(await stream(answer({ text }, cut)))).toBe(text)
    for (const as of ['\r\n', '\r'] as const) {
      expect(spokenText(await stream(answer({ text }, lineEnds({ as }), recut({ every: 3 }))))).toBe(text)
    }
    const commented = await stream(answer({ text }, comments({})))
    expect(commented.comments).toHaveLength(plain.events.length)
    expect(spokenText(commented)).toBe(text)
    expect((await stream(answer({ text }, oneWrite({})))).pieces).toBe(1)
    expect((await stream(answer({ text }, recut({ every: 50 })))).pieces).toBeGreaterThan(plain.events.length)
  })
})
