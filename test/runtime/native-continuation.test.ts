import { beforeEach, describe, expect, inject, it } from 'vitest'
import { block, delta, end, event, input, last, ping, start, stop, tool, words } from '../fixtures/anthropic/events.ts'
import { configuration } from '../support/configuration.ts'
import { chatInit } from '../support/gateway.ts'
import { type ReceivedStream, readStream } from '../support/sse.ts'
import { answer, cutAfter, frames, slowBetween } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const decoder = new TextDecoder()
const messages = [{ role: 'user', content: 'Count.' }]
const gateway = withGateway()
let serial = 0
let [first, second, third] = ['', '', '']

beforeEach(async () => {
  serial += 1
  ;[first, second, third] = ['first', 'second', 'third'].map((name) => `/native-rescue-${run}-${serial}-${name}`) as [
    string,
    string,
    string,
  ]
  const entry = (id: string, model: string, base: string, priority: number, able: boolean) => ({
    model_name: 'claude',
    deployment_id: id.slice(1),
    gateway_params: { model, api_base: `${upstream.url}${id}${base}`, api_key: 'sk-canary-5e1' },
    model_info: { priority, ...(able ? { supports_assistant_prefix: true } : {}) },
  })
  await gateway.restart(
    configuration({
      router_settings: { routing_strategy: 'priority-based-routing', cooldown_time: 0, timeout: 4 },
      model_list: [
        entry(first, 'anthropic/a', '', 0, false),
        entry(second, 'anthropic/b', '', 1, true),
        entry(third, 'openai-compatible/c', '/v1', 2, true),
      ],
    }),
  )
  await upstream.script(second, [
    frames([
      start({ input_tokens: 40, output_tokens: 1 }),
      words(0, ' four', ' five six'),
      end('end_turn', { output_tokens: 6 }),
      last,
    ]),
  ])
  await upstream.script(third, [answer({ text: ' four five six' })])
})

const open = [start(), ping, block(0, { type: 'text', text: '' })]
const text = (words: string) => delta(0, { type: 'text_delta', text: words })
/** Everything is sent, then the connection breaks. */
const broken = (...events: string[]) => frames([...events, last], {}, cutAfter({ frames: events.length }))
const bodyAt = async (path: string) => JSON.parse(decoder.decode((await upstream.calls(path))[0]?.body))
const asked = async () => Promise.all([first, second, third].map(async (path) => (await upstream.calls(path)).length))

interface Event {
  readonly type: string
  readonly index?: number
  readonly delta?: { readonly text?: string; readonly stop_reason?: string }
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number }
}

async function ask(more: object = {}): Promise<{ stream: ReceivedStream; events: Event[] }> {
  const body = { model: 'claude', max_tokens: 100, messages, stream: true, ...more }
  const stream = await readStream(await gateway.fetch('/v1/messages', chatInit(body)))
  await gateway.idle()
  return { stream, events: stream.events.map(({ data }) => JSON.parse(data) as Event) }
}
const line = () => gateway.logs.findLast(({ event: name }) => name === 'call.finished')

/** One message of well-formed blocks. */
function expectOne(events: readonly Event[]): void {
  for (const type of ['message_start', 'message_delta', 'message_stop']) {
    expect(
      events.filter((one) => one.type === type),
      type,
    ).toHaveLength(1)
  }
  expect(events.at(-1)?.type).toBe('message_stop')
  let opened: number | undefined
  let blocks = 0
  for (const { type, index } of events) {
    if (type === 'content_block_start') {
      expect([opened, index]).toEqual([undefined, blocks])
      opened = blocks++
    }
    if (type === 'content_block_delta' || type === 'content_block_stop') expect(index).toBe(opened)
    if (type === 'content_block_stop') opened = undefined
  }
  expect(opened).toBeUndefined()
}

describe('a message that its own provider breaks off', () => {
  it('is finished by another in the same block, its first bytes as they came', async () => {
    const sent = [...open, text('one two'), text(' three')]
    await upstream.script(first, [broken(...sent)])
    const { stream, events } = await ask()
    expect(stream.text.startsWith(sent.join(''))).toBe(true)
    expectOne(events)
    expect(events.filter(({ type }) => type === 'content_block_start')).toHaveLength(1)
    expect(events.map((one) => one.delta?.text ?? '').join('')).toBe('one two three four five six')
    expect(events.find(({ type }) => type === 'message_delta')).toMatchObject({
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: 25 + 40, output_tokens: 3 + 6 },
    })
    expect(await asked()).toEqual([1, 1, 0])
    const { model, messages: told } = await bodyAt(second)
    expect(model).toBe('b')
    expect(told.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant'])
    expect(JSON.stringify(told[1])).toContain('one two three"')
    expect(line()).toMatchObject({
      ending: 'answered',
      deployment: second.slice(1),
      rescuedFrom: [first.slice(1)],
      usage: { inputTokens: 65, outputTokens: 9 },
    })
  })

  it('goes on in the next block where one had ended', async () => {
    await upstream.script(first, [broken(...open, text('one two three'), stop(0))])
    const { events } = await ask()
    expectOne(events)
    expect(events.filter(({ type }) => type === 'content_block_start').map(({ index }) => index)).toEqual([0, 1])
    expect(events.map((one) => one.delta?.text ?? '').join('')).toBe('one two three four five six')
  })

  it('is finished after an error event of its provider, and by a provider of chat too', async () => {
    await upstream.script(first, [
      frames(
        [...open, text('one two three'), event('error', { error: { type: 'overloaded_error', message: 'Busy' } })],
        {},
        slowBetween({ ms: 20 }),
      ),
    ])
    await upstream.script(second, [frames([start(), event('error', { error: { type: 'api_error', message: 'No' } })])])
    const { events } = await ask()
    expectOne(events)
    expect(events.map((one) => one.delta?.text ?? '').join('')).toBe('one two three four five six')
    expect(await asked()).toEqual([1, 1, 1])
  })

  it('repeats no word where the other begins again', async () => {
    await upstream.script(second, [
      frames([start(), words(0, 'one two three', ' four five six'), end('end_turn'), last]),
    ])
    await upstream.script(first, [broken(...open, text('one two three'))])
    const { events } = await ask()
    expectOne(events)
    expect(events.map((one) => one.delta?.text ?? '').join('')).toBe('one two three four five six')
  })

  it.each([
    ['a tool call', [start(), tool(0, 'toolu_1', 'weather'), input(0, '{"at":')]],
    [
      'a tool call that is complete',
      [...open, text('one'), stop(0), tool(1, 'toolu_1', 'weather'), input(1, '{}'), stop(1)],
    ],
    [
      'signed thoughts',
      [
        start(),
        block(0, { type: 'thinking', thinking: '', signature: '' }),
        delta(0, { type: 'thinking_delta', thinking: 'Hm' }),
        delta(0, { type: 'signature_delta', signature: 'c2ln' }),
        stop(0),
        block(1, { type: 'text', text: '' }),
        delta(1, { type: 'text_delta', text: 'one' }),
      ],
    ],
  ])('ends with the honest error where it has %s', async (_, events) => {
    await upstream.script(first, [broken(...events)])
    const received = await ask({ thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 4000 })
    expect(received.events.at(-1)?.type).toBe('error')
    expect(received.stream.text).not.toContain('message_stop')
    expect(await asked()).toEqual([1, 0, 0])
    expect(line()).toMatchObject({ ending: 'truncated', attempts: 1 })
  })

  it('that is complete but for its formal end is nobody’s to finish', async () => {
    await upstream.script(first, [broken(...open, text('one'), stop(0), end('end_turn'))])
    const { events } = await ask()
    expectOne(events)
    expect(await asked()).toEqual([1, 0, 0])
  })
})
