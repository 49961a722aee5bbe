import { beforeEach, describe, expect, inject, it } from 'vitest'
import { configuration, deployment } from '../support/configuration.ts'
import { chunksOf, type ReceivedStream, readStream, spokenText } from '../support/sse.ts'
import {
  answer,
  type Behaviour,
  badRequest,
  cutAfter,
  errorEvent,
  serverError,
  silence,
  slowBetween,
  slowFirstToken,
  stallAfter,
} from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const decoder = new TextDecoder()
const WHOLE = 'one two three four five six'
const messages = [{ role: 'user', content: 'Count.' }]
const gateway = withGateway()
let serial = 0
/** The deployment that is asked first, one of its group that can go on, and one of a fallback group that can. */
let first: string
let second: string
let third: string

beforeEach(async () => {
  serial += 1
  first = `rescue-${run}-${serial}-first`
  second = `rescue-${run}-${serial}-second`
  third = `rescue-${run}-${serial}-third`
  const able = { supports_assistant_prefix: true }
  await gateway.restart(
    configuration({
      router_settings: {
        routing_strategy: 'priority-based-routing',
        cooldown_time: 0,
        stream_first_token_timeout: 0.5,
        stream_idle_timeout: 0.5,
        timeout: 4,
      },
      gateway_settings: { fallbacks: [{ group: ['unable', 'spare'] }] },
      model_list: [
        deployment(upstream.url, 'group', first, { priority: 0 }),
        deployment(upstream.url, 'group', second, { priority: 1, ...able }),
        deployment(upstream.url, 'unable', `${third}-unable`),
        deployment(upstream.url, 'spare', third, able),
      ],
    }),
  )
  await upstream.script(second, [answer({ text: ' four five six' })])
  await upstream.script(third, [answer({ text: ' four five six' })])
})

const cut = answer({ text: WHOLE }, cutAfter({ frames: 4 }))
const asked = async (key: string) => (await upstream.calls(key)).length
const bodyOf = async (key: string, index = 0) =>
  JSON.parse(decoder.decode((await upstream.calls(key))[index]?.body)) as Record<string, unknown>

async function ask(behaviour: Behaviour, more: object = {}): Promise<ReceivedStream> {
  await upstream.script(first, [behaviour])
  const stream = await readStream(await gateway.chat({ model: 'group', messages, stream: true, ...more }))
  await gateway.idle()
  return stream
}

async function line() {
  const lines = gateway.logs.filter(({ event }) => event === 'call.finished')
  expect(lines).toHaveLength(1)
  return lines[0] as Record<string, unknown>
}

interface Chunk {
  readonly id: string
  readonly created: number
  readonly model: string
  readonly choices: readonly { readonly delta: { readonly role?: string }; readonly finish_reason: string | null }[]
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number }
}

function expectSeamless(stream: ReceivedStream): Chunk[] {
  expect(spokenText(stream)).toBe(WHOLE)
  expect(stream.events.at(-1)?.data).toBe('[DONE]')
  expect(stream.text.match(/\[DONE\]/g)).toHaveLength(1)
  const chunks = chunksOf(stream) as Chunk[]
  for (const part of ['id', 'created', 'model'] as const) expect(new Set(chunks.map((one) => one[part])).size).toBe(1)
  expect(chunks.filter(({ choices }) => choices[0]?.delta.role)).toHaveLength(1)
  expect(chunks.filter(({ choices }) => choices[0]?.finish_reason)).toHaveLength(1)
  return chunks
}

describe('an answer that fails after it began', () => {
  it.each([
    ['a cut', cut],
    [
      'a proper end without a finish',
      answer({ text: WHOLE, finishReason: null, done: true }, cutAfter({ frames: 4, how: 'end' })),
    ],
    ['a formal end without a finish', answer({ text: 'one two three', finishReason: null, done: true })],
    ['a stall', answer({ text: WHOLE }, stallAfter({ frames: 4 }))],
    ['an error event', answer({ text: WHOLE }, errorEvent(4), slowBetween({ ms: 10 }))],
  ])('with %s is finished by another, without a seam', async (_, behaviour) => {
    expectSeamless(await ask(behaviour))
    expect(await bodyOf(second)).toMatchObject({
      messages: [...messages, { role: 'assistant', content: 'one two three' }],
      stream: true,
    })
    expect([await asked(first), await asked(second), await asked(third)]).toEqual([1, 1, 0])
    expect(await line()).toMatchObject({
      ending: 'answered',
      deployment: second,
      attempts: 2,
      status: 200,
      rescuedFrom: [first],
      tried: [
        { deployment: first, result: 'cut', error: expect.stringMatching(/^(truncated|timeout|provider_error)$/) },
        { deployment: second, result: 'answered', error: '' },
      ],
    })
  })

  it.each([
    ['all of it', 'one two three four five six'],
    ['its end', 'two three four five six'],
    ['its last word', 'three four five six'],
    ['nothing, with another blank', ' four five six'],
  ])('repeats no word where the other begins with %s', async (_, text) => {
    await upstream.script(second, [answer({ text }, slowBetween({ ms: 5 }))])
    expectSeamless(await ask(answer({ text: WHOLE }, cutAfter({ frames: 4 }))))
  })

  it('tells the usage of both, once, to a client that asked', async () => {
    const chunks = expectSeamless(await ask(cut, { stream_options: { include_usage: true } }))
    const usages = chunks.flatMap(({ usage }) => usage ?? [])
    expect(usages).toHaveLength(1)
    const { usage } = (await line()) as { usage: { inputTokens: number; outputTokens: number; estimated: boolean } }
    expect(usages[0]).toMatchObject({
      prompt_tokens: usage.inputTokens,
      completion_tokens: usage.outputTokens,
      total_tokens: usage.inputTokens + usage.outputTokens,
    })
    // Three words by their thirteen characters, and three that the other reported.
    expect(usage).toMatchObject({ outputTokens: 3 + 3, estimated: true })
    const signals = await gateway.store.signals([first, second])
    expect((signals[0]?.used.tokens ?? 0) + (signals[1]?.used.tokens ?? 0)).toBe(usage.inputTokens + usage.outputTokens)
    expect(signals.map(({ failures }) => failures)).toEqual([1, 0])
  })

  it('is finished by a third where the second fails too, and fails again', async () => {
    await upstream.script(second, [answer({ text: ' four five six' }, cutAfter({ frames: 2 })), serverError()])
    await upstream.script(third, [answer({ text: ' five six' })])
    expectSeamless(await ask(cut))
    expect(await bodyOf(third)).toMatchObject({
      messages: [...messages, { role: 'assistant', content: 'one two three four' }],
    })
    expect(await line()).toMatchObject({ ending: 'answered', model: 'spare', deployment: third, attempts: 4 })
  })

  it('is finished by a fallback where its group refuses the prefix, which is remembered', async () => {
    await upstream.script(second, [badRequest()])
    expectSeamless(await ask(cut))
    expect([await asked(second), await asked(third)]).toEqual([1, 1])
    expectSeamless(await ask(cut))
    expect([await asked(second), await asked(third)]).toEqual([1, 2])
  })

  it('ends with the honest error where nobody goes on', async () => {
    await upstream.script(second, [badRequest()])
    await upstream.script(third, [badRequest()])
    const stream = await ask(cut)
    expect(JSON.parse(stream.events.at(-1)?.data ?? '{}')).toMatchObject({ error: { code: 'upstream_truncated' } })
    expect(stream.text).not.toContain('[DONE]')
    const finished = await line()
    expect(finished).toMatchObject({ ending: 'truncated', deployment: first, attempts: 3, rescuedFrom: [] })
    expect(finished.usage).toMatchObject({ outputTokens: 3 })
    expect((await gateway.store.signals([second, third])).map(({ failures }) => failures)).toEqual([0, 0])
  })

  it.each([
    ['a tool call was begun', { toolCalls: [{ id: 'c', name: 'weather', arguments: '{"city":"Zürich"}' }] }, 4],
    ['the answer is complete', { text: WHOLE, done: false }, 100],
  ])('is left to nobody where %s', async (_, options, frames) => {
    await ask(answer(options, cutAfter({ frames })))
    expect([await asked(second), await asked(third)]).toEqual([0, 0])
  })

  it('is left to nobody where several answers were asked for', async () => {
    await ask(cut, { n: 2 })
    expect([await asked(second), await asked(third)]).toEqual([0, 0])
  })

  it('keeps its client with comments while the other thinks, and asks nobody once the client has left', async () => {
    const able = { supports_assistant_prefix: true }
    await gateway.restart(
      configuration({
        router_settings: { routing_strategy: 'priority-based-routing', stream_keep_alive: 0.1, cooldown_time: 0 },
        model_list: [
          deployment(upstream.url, 'group', first, { priority: 0 }),
          deployment(upstream.url, 'group', second, { priority: 1, ...able }),
          deployment(upstream.url, 'group', third, { priority: 2, ...able }),
        ],
      }),
    )
    await upstream.script(second, [answer({ text: ' four five six' }, slowFirstToken({ ms: 450 }))])
    const stream = await ask(cut)
    expectSeamless(stream)
    expect(stream.comments.length).toBeGreaterThanOrEqual(2)

    await upstream.script(second, [silence()])
    await upstream.script(first, [cut])
    const leaving = new AbortController()
    const body = { model: 'group', messages, stream: true }
    const response = await gateway.chat(body, { signal: leaving.signal })
    // In workerd nobody ends the body of a client that has left.
    void readStream(response)
    await upstream.until(second, (calls) => calls.length === 2)
    leaving.abort()
    await upstream.until(second, (calls) => calls[1]?.outcome === 'client_closed')
    await gateway.idle()
    expect(await asked(third)).toBe(0)
    const lines = gateway.logs.filter(({ event }) => event === 'call.finished')
    expect(lines.at(-1)).toMatchObject({ ending: 'client_closed', deployment: first, attempts: 2 })
  })

  it('counts what was said against the limit of the answer', async () => {
    expectSeamless(await ask(cut, { max_tokens: 50 }))
    expect(await bodyOf(second)).toMatchObject({ max_tokens: 47 })
  })
})

describe('an answer of the only deployment of its group', () => {
  /** With a fallback that can go on as well, where there is one. */
  async function alone(fallback: boolean, settings: object = {}): Promise<void> {
    const able = { supports_assistant_prefix: true }
    await gateway.restart(
      configuration({
        router_settings: { stream_idle_timeout: 0.5, retry_after: 0.01, ...settings },
        gateway_settings: { fallbacks: fallback ? [{ group: ['spare'] }] : [] },
        model_list: [
          deployment(upstream.url, 'group', first, able),
          ...(fallback ? [deployment(upstream.url, 'spare', third, able)] : []),
        ],
      }),
    )
  }
  const askBoth = async (...behaviours: Behaviour[]) => {
    await upstream.script(first, behaviours)
    const stream = await readStream(await gateway.chat({ model: 'group', messages, stream: true }))
    await gateway.idle()
    return stream
  }

  it.each([
    ['is finished by that one, though its failure cooled it', false],
    ['is finished by that one before a fallback', true],
  ])('%s', async (_, fallback) => {
    await alone(fallback, { cooldown_time: 60, allowed_fails: 0 })
    expectSeamless(await askBoth(cut, answer({ text: ' four five six' })))
    expect(await bodyOf(first, 1)).toMatchObject({
      messages: [...messages, { role: 'assistant', content: 'one two three' }],
    })
    expect([await asked(first), await asked(third)]).toEqual([2, 0])
    expect(await line()).toMatchObject({ ending: 'answered', deployment: first, attempts: 2, rescuedFrom: [first] })
    // It has answered since.
    expect((await gateway.store.signals([first]))[0]).toMatchObject({ failures: 0, active: 0 })
    expect(await readStream(await gateway.chat({ model: 'group', messages, stream: true }))).toMatchObject({ rest: '' })
  })

  it.each([
    ['a fallback where it fell silent', true],
    ['that one where it fell silent and there is nobody else', false],
  ])('is finished by %s', async (_, fallback) => {
    await alone(fallback)
    await askBoth(answer({ text: WHOLE }, stallAfter({ frames: 4 })), answer({ text: ' four five six' }))
    expect(await line()).toMatchObject({ ending: 'answered', deployment: fallback ? third : first, attempts: 2 })
  })

  it('ends with the honest error where that one is cut twice, or refuses the prefix', async () => {
    await alone(false)
    const again = answer({ text: ' four five six' }, cutAfter({ frames: 2 }))
    const stream = await askBoth(cut, again, answer({ text: ' five six' }))
    expect(JSON.parse(stream.events.at(-1)?.data ?? '{}')).toMatchObject({ error: { code: 'upstream_truncated' } })
    expect(await asked(first)).toBe(2)
    await alone(false)
    const refused = await askBoth(cut, badRequest())
    expect(JSON.parse(refused.events.at(-1)?.data ?? '{}')).toMatchObject({ error: { code: 'upstream_truncated' } })
    await askBoth(cut, answer({ text: ' four five six' }))
    // Once for each call, and once for the prefix that it refused.
    expect(await asked(first)).toBe(2 + 2 + 1)
  })

  it('is not asked of one that others have found dead meanwhile', async () => {
    await alone(true, { allowed_fails: 1, cooldown_time: 60 })
    await upstream.script(first, [answer({ text: WHOLE }, stallAfter({ frames: 4 })), serverError()])
    const begun = gateway.chat({ model: 'group', messages, stream: true })
    await upstream.until(first, (calls) => calls.length === 1)
    for (let call = 0; call < 3; call++) await (await gateway.chat({ model: 'group', messages })).text()
    await upstream.script(third, [serverError()])
    const before = await asked(first)
    const stream = await readStream(await begun)
    expect(JSON.parse(stream.events.at(-1)?.data ?? '{}')).toMatchObject({ error: { code: 'upstream_timeout' } })
    expect(await asked(first)).toBe(before)
  })
})

describe('in the other dialects', () => {
  const open = async (path: string, body: object) => {
    await upstream.script(first, [cut])
    const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const response = await gateway.fetch(path, {
      ...init,
      body: JSON.stringify({ model: 'group', stream: true, ...body }),
    })
    const stream = await readStream(response)
    await gateway.idle()
    expect([await asked(first), await asked(second)]).toEqual([1, 1])
    return stream.events
  }

  it('is one message', async () => {
    const events = await open('/v1/messages', { max_tokens: 100, messages })
    const all = events.map(({ data }) => JSON.parse(data))
    const types = all.map(({ type }) => type as string).filter((type) => !/delta|ping/.test(type))
    expect(types).toEqual(['message_start', 'content_block_start', 'content_block_stop', 'message_stop'])
    expect(all.map(({ delta }) => delta?.text ?? '').join('')).toBe(WHOLE)
    expect(all.find(({ type }) => type === 'message_delta').delta.stop_reason).toBe('end_turn')
  })

  it('is asked of the next provider without what only the dialect knows', async () => {
    const content = [{ type: 'text', text: 'Count.', cache_control: { type: 'ephemeral' } }]
    await open('/v1/messages', { max_tokens: 100, messages: [{ role: 'user', content }] })
    const bodies = (await upstream.calls(second)).map(({ body }) => new TextDecoder().decode(body))
    expect(bodies).toHaveLength(1)
    expect(bodies[0]).toContain('Count.')
    expect(bodies[0]).not.toContain('cache_control')
  })

  it('is one response', async () => {
    const events = await open('/v1/responses', { input: 'Count.' })
    const all = events.map(({ data }) => JSON.parse(data))
    expect(all.map(({ sequence_number }) => sequence_number)).toEqual(all.map((_, index) => index))
    expect(all.filter(({ type }) => type === 'response.created')).toHaveLength(1)
    expect(all.at(-1)).toMatchObject({ type: 'response.completed' })
    expect(all.at(-1).response.output[0].content[0].text).toBe(WHOLE)
  })

  it('is one completion', async () => {
    const events = await open('/v1/completions', { prompt: 'Count.' })
    expect(events.at(-1)?.data).toBe('[DONE]')
    const all = events.slice(0, -1).map(({ data }) => JSON.parse(data))
    expect(all.map(({ choices }) => choices[0]?.text ?? '').join('')).toBe(WHOLE)
    expect(new Set(all.map(({ id }) => id)).size).toBe(1)
  })
})
