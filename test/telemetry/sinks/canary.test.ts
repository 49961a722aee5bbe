import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configuration, deployment } from '../../support/configuration.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { startUpstream, type Upstream } from '../../support/scripted-upstream.ts'
import { type SinkReceiver, startSinkReceiver } from '../../support/sink-receiver.node.ts'
import { answer, json } from '../../support/upstream/index.ts'
import { withGateway } from '../../support/with-gateway.ts'
import { everySink, readable } from './every-sink.ts'

/** What stands in every place of a request and of an answer that holds content. */
const CANARY = 'canary-8f31c0'
const PICTURE = Buffer.from(`${CANARY} `.repeat(60)).toString('base64')

let upstream: Upstream
let receiver: SinkReceiver
beforeAll(async () => {
  upstream ??= await startUpstream()
  receiver ??= await startSinkReceiver()
})
afterAll(() => Promise.all([upstream.close(), receiver.close()]))

/** A gateway with every sink on. */
const gatewayWith = (settings: Record<string, unknown>) =>
  withGateway(async () => {
    upstream ??= await startUpstream()
    receiver ??= await startSinkReceiver()
    return configuration({
      gateway_settings: { ...everySink(receiver.url), ...settings },
      router_settings: { num_retries: 0 },
      model_list: ['said', 'failing', 'quoting'].map((name) =>
        deployment(upstream.url, name, name, {}, { api_key: 'sk-upstream-canary-91c2' }),
      ),
    })
  })

const said = (content: string) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'said',
  choices: [
    {
      index: 0,
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        content,
        reasoning_content: `thought ${CANARY}`,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'look', arguments: `{"q":"${CANARY} argument"}` } },
        ],
      },
    },
  ],
  usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
})

/** Content in each form that it has, answered whole, streamed and refused with a quotation. */
async function callAll(gateway: TestGateway, init: RequestInit = {}): Promise<void> {
  upstream.script('said', [json(200, said(`answer ${CANARY}`))])
  upstream.script('failing', [json(500, { error: { message: `cannot say ${CANARY}`, type: 'server_error' } })])
  upstream.script('quoting', [answer({ text: `${CANARY} streamed` })])
  const request = (model: string) => ({
    model,
    messages: [
      { role: 'system', content: `system ${CANARY}` },
      {
        role: 'user',
        content: [
          { type: 'text', text: `question ${CANARY}` },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PICTURE}` } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: `{"a":"${CANARY}"}` } }],
      },
      { role: 'tool', tool_call_id: 'c', content: `result ${CANARY}` },
    ],
    metadata: { trace_id: 'trace-77', session_id: 'session-77' },
    user: 'person-77',
  })
  expect((await (await gateway.chat(request('said'), init)).text()).includes(CANARY)).toBe(true)
  expect((await (await gateway.chat({ ...request('quoting'), stream: true }, init)).text()).includes(CANARY)).toBe(true)
  expect((await gateway.chat(request('failing'), init)).status).toBeGreaterThanOrEqual(500)
  expect((await gateway.chat({ ...request('said'), messages: [{ role: 7, content: CANARY }] }, init)).status).toBe(400)
  expect((await gateway.chat(`{"model":"said","messages":[{"role":"${CANARY}`, init)).status).toBe(400)
  await gateway.idle()
}

/** Everything that left, or was kept, as text: sinks, log, ledger and audit, metrics. */
async function everything(gateway: TestGateway): Promise<string> {
  const metrics = await (await gateway.fetch('/metrics')).text()
  const states = await (await gateway.fetch('/ui/api/callbacks')).text()
  const told = receiver.received.map((one) => `${JSON.stringify(one.headers)} ${one.path} ${readable(one)}`)
  return [...told, JSON.stringify(gateway.logs), JSON.stringify(gateway.records), metrics, states].join('\n')
}

/** All three calls that begun, at every sink. */
async function told(gateway: TestGateway, before: number): Promise<void> {
  const deadline = Date.now() + 15_000
  const signals = ['otel', 'opentelemetry'].flatMap((name) => [`${name}.metrics`, `${name}.logs`])
  const names = [...Object.keys(everySink('').callback_settings), ...signals, 'webhook.notices']
  for (;;) {
    const { data } = (await (await gateway.fetch('/ui/api/callbacks')).json()) as {
      data: { name: string; delivered: number; queued: number }[]
    }
    expect(data.map(({ name }) => name).sort()).toEqual(names.sort())
    if (data.every(({ name, delivered }) => delivered >= before + 3 || UNHURRIED.includes(name))) return
    if (Date.now() > deadline) throw new Error(`not delivered: ${JSON.stringify(data)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Objects are written once a minute, notices when there is one. */
const UNHURRIED = ['s3', 'webhook.notices']

/** The canary in any spelling that a sink may give it. */
function canariesIn(text: string): number {
  const spellings = [CANARY, encodeURIComponent(CANARY), Buffer.from(CANARY).toString('base64').slice(0, 16)]
  return spellings.reduce((sum, spelling) => sum + text.split(spelling).length - 1, 0)
}

describe('with content off', () => {
  const gateway = gatewayWith({ turn_off_message_logging: true })

  it('no byte of it leaves by any sink, log, record or metric', async () => {
    const before = receiver.received.length
    await callAll(gateway)
    await told(gateway, 0)
    expect(receiver.received.length).toBeGreaterThan(before)
    const all = await everything(gateway)
    await gateway.close()
    const objects = receiver.received.filter(({ path }) => path.startsWith('/logs/'))
    expect(objects.length).toBeGreaterThan(0)
    expect(canariesIn(all + objects.map(readable).join('\n'))).toBe(0)
    // What is told instead is there.
    expect(all).toContain('call.finished')
    expect(all).toContain('person-77')
  })
})

describe('with content on', () => {
  const gateway = gatewayWith({ redact: ['thought [a-z0-9-]+'] })

  it('it goes to the sinks that take it and nowhere else, without files and what is redacted', async () => {
    const from = receiver.received.length
    await callAll(gateway)
    await told(gateway, 0)
    const byPath = (path: RegExp) =>
      receiver.received
        .slice(from)
        .filter((one) => path.test(one.path))
        .map(readable)
        .join('\n')
    for (const path of CONTENT_PATHS) {
      const text = byPath(path)
      for (const part of ['system', 'question', 'result', 'answer']) expect(text).toContain(`${part} ${CANARY}`)
      expect(text).toContain(`${CANARY} argument`)
      expect(text).toContain(`${CANARY} streamed`)
      expect(text).toMatch(/\[image\/png, \d+ bytes, sha256:[0-9a-f]{64}\]/)
      expect(text).not.toContain(PICTURE.slice(0, 40))
      expect(text).not.toContain(`thought ${CANARY}`)
      expect(text).toContain('[redacted]')
      expect(text).not.toContain('sk-upstream-canary-91c2')
    }
    expect(canariesIn(byPath(/webhook|metrics|logs/))).toBe(0)
    expect(canariesIn(JSON.stringify(gateway.logs) + JSON.stringify(gateway.records))).toBe(0)
  })

  it('a request may ask to keep it out', async () => {
    const from = receiver.received.length
    await callAll(gateway, { headers: { 'x-gateway-no-log': '1' } })
    await told(gateway, 3)
    expect(receiver.received.length).toBeGreaterThan(from)
    expect(canariesIn(receiver.received.slice(from).map(readable).join('\n'))).toBe(0)

    await gateway.close()
    const rows = receiver.received
      .slice(from)
      .filter(({ path }) => path.startsWith('/logs/'))
      .map(readable)
      .join('')
    const calls = rows
      .trimEnd()
      .split('\n')
      .map((row) => JSON.parse(row))
    expect(calls.map(({ request }) => canariesIn(String(request)) > 0)).toEqual([true, true, true, false, false, false])
    expect(rows).not.toContain(PICTURE.slice(0, 40))
    expect(rows).not.toContain(`thought ${CANARY}`)
  })
})

/** Where sinks that take content are told of it. */
const CONTENT_PATHS = [/langfuse/, /otel\/v1\/traces/, /opentelemetry\/v1\/traces/]
