import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { keyHolder } from '../../support/batches.ts'
import { configuration } from '../../support/configuration.ts'
import type { FullGateway } from '../../support/full-gateway.node.ts'
import { chatInit } from '../../support/gateway.ts'
import { startUpstream, type Upstream } from '../../support/scripted-upstream.ts'
import { type SinkReceiver, startSinkReceiver } from '../../support/sink-receiver.node.ts'
import { answer, json, raw } from '../../support/upstream/index.ts'
import { withFullGateway } from '../../support/with-gateway.ts'
import { everySink, readable } from './every-sink.ts'

/** What stands in every place of a request and of an answer that holds content: of calls that keep it in, and of others. */
const KEPT = 'canary-5d02e7'
const TOLD = 'magpie-90ab1c'

let upstream: Upstream
let receiver: SinkReceiver
beforeAll(async () => {
  upstream ??= await startUpstream()
  receiver ??= await startSinkReceiver()
})
afterAll(() => Promise.all([upstream?.close(), receiver?.close()]))

/** A provider that speaks the endpoint's own API, or chat. */
const entry = (model_name: string, provider = 'openai-compatible', end = '/v1') => ({
  model_name,
  gateway_params: {
    model: `${provider}/canary-${model_name}`,
    api_base: `${upstream.url}/${model_name}${end}`,
    api_key: 'sk-upstream-canary-91c2',
  },
})

const gatewayWith = (settings: object) =>
  withFullGateway(async () => {
    upstream ??= await startUpstream()
    receiver ??= await startSinkReceiver()
    return configuration({
      router_settings: { num_retries: 0, cooldown_time: 0 },
      gateway_settings: {
        ...everySink(receiver.url),
        ...settings,
        mcp_servers: [{ server_key: 'docs', base_url: `${inject('mcpServerUrl')}/mcp/canary` }],
      },
      model_list: [
        ...['chat', 'tools', 'embed', 'image', 'speech', 'hear', 'rank', 'old', 'deaf'].map((name) => entry(name)),
        entry('native', 'openai'),
        entry('claude', 'anthropic', ''),
      ],
    })
  })

/** A request with content in each of its places, its provider's answer, and whether the client hears of it. */
interface Asked {
  readonly model: string
  readonly path: string
  readonly body: object | FormData
  readonly says: Parameters<Upstream['script']>[1]
  readonly refused?: true
}

const used = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 }
const sound = (canary: string, fields: Record<string, string>) => {
  const form = new FormData()
  form.set('file', new File([`RIFF ${canary} `.repeat(20)], `${canary}.wav`, { type: 'audio/wav' }))
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  return form
}
const responsesOutput = (canary: string) => [
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: `answer ${canary}`, annotations: [] }] },
]

const callsWith = (canary: string): readonly Asked[] => [
  {
    model: 'tools',
    path: '/v1/chat/completions',
    body: {
      model: 'tools',
      messages: [{ role: 'user', content: `question ${canary}` }],
      tools: [{ type: 'mcp', server: 'docs', require_approval: 'never' }],
    },
    says: [
      answer({ toolCalls: [{ id: 'c', name: 'docs__echo', arguments: `{"message":"${canary} argument"}` }] }),
      answer({ text: `done ${canary}` }),
    ],
  },
  {
    model: 'embed',
    path: '/v1/embeddings',
    body: { model: 'embed', input: [`one ${canary}`, `two ${canary}`] },
    says: [json(200, { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5] }], usage: used })],
  },
  {
    model: 'chat',
    path: '/v1/responses',
    body: { model: 'chat', instructions: `system ${canary}`, input: `question ${canary}` },
    says: [answer({ text: `answer ${canary}` })],
  },
  {
    model: 'native',
    path: '/v1/responses',
    body: { model: 'native', instructions: `system ${canary}`, input: [{ role: 'user', content: `native ${canary}` }] },
    says: [
      json(200, {
        id: 'resp_1',
        object: 'response',
        status: 'completed',
        model: 'native',
        output: responsesOutput(canary),
        usage: { input_tokens: 5, output_tokens: 5, total_tokens: 10 },
      }),
    ],
  },
  {
    model: 'claude',
    path: '/v1/messages',
    body: {
      model: 'claude',
      max_tokens: 10,
      system: `system ${canary}`,
      messages: [{ role: 'user', content: `question ${canary}` }],
    },
    says: [
      json(200, {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'claude',
        content: [{ type: 'text', text: `answer ${canary}` }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 5, output_tokens: 5 },
      }),
    ],
  },
  {
    model: 'chat',
    path: '/v1/messages',
    body: {
      model: 'chat',
      max_tokens: 10,
      stream: true,
      system: `system ${canary}`,
      messages: [{ role: 'user', content: `question ${canary}` }],
    },
    says: [answer({ text: `streamed ${canary}` })],
  },
  {
    model: 'old',
    path: '/v1/completions',
    body: { model: 'old', prompt: `prompt ${canary}` },
    says: [
      json(200, {
        object: 'text_completion',
        choices: [{ text: canary, index: 0, finish_reason: 'stop' }],
        usage: used,
      }),
    ],
  },
  {
    model: 'speech',
    path: '/v1/audio/speech',
    body: { model: 'speech', input: `say ${canary}`, voice: 'alloy', instructions: `as ${canary}` },
    says: [raw(200, `ID3 ${canary} `.repeat(50), { 'content-type': 'audio/mpeg' })],
  },
  {
    model: 'hear',
    path: '/v1/audio/transcriptions',
    body: sound(canary, { model: 'hear', prompt: `names: ${canary}` }),
    says: [json(200, { text: `heard ${canary}`, usage: { type: 'duration', seconds: 7 } })],
  },
  {
    model: 'hear',
    path: '/v1/audio/transcriptions',
    body: sound(canary, { model: 'hear', response_format: 'text', prompt: canary }),
    says: [raw(200, `heard ${canary}\n`, { 'content-type': 'text/plain' })],
  },
  {
    model: 'image',
    path: '/v1/images/generations',
    body: { model: 'image', prompt: `draw ${canary}` },
    says: [json(200, { created: 1, data: [{ revised_prompt: `drawn ${canary}`, url: `https://x.test/${canary}` }] })],
  },
  {
    model: 'rank',
    path: '/v1/rerank',
    body: { model: 'rank', query: `which ${canary}`, documents: [`a ${canary}`, 'b'] },
    says: [json(200, { results: [{ index: 0, relevance_score: 0.5, document: { text: canary } }] })],
  },
  {
    model: 'deaf',
    path: '/v1/audio/transcriptions',
    body: sound(canary, { model: 'deaf', prompt: canary }),
    says: [json(400, { error: { message: `cannot hear ${canary}`, type: 'invalid_request_error' } })],
    refused: true,
  },
]

/** Makes every call. Resolves with the answers, which hold the canary where the provider said it. */
async function askAll(
  gateway: FullGateway,
  key: string,
  canary: string,
  more: Record<string, string> = {},
): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, ...more }
  for (const { model, path, body, says, refused } of callsWith(canary)) {
    upstream.script(`canary-${model}`, says)
    upstream.script(`/${model}`, says)
    const form = body instanceof FormData
    const init = form ? { method: 'POST', body } : chatInit(body)
    const response = await gateway.fetch(path, { ...init, headers: { ...init.headers, ...headers } })
    const text = await response.text()
    expect([path, response.status >= 400, text.slice(0, 200)]).toEqual([path, refused === true, expect.anything()])
  }
  // A tool of the gateway's own MCP server, which is in no sink at all.
  const call = { name: 'docs__echo', arguments: { message: `${canary} called` } }
  const asked = await gateway.fetch('/mcp', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
  })
  expect(await asked.text()).toContain(`echo: ${canary} called`)
  await gateway.idle()
}

interface Seen {
  /** What sinks got that take content, and what those got that take none. */
  readonly content: string
  readonly rest: string
}

/** What has left since, and what the gateway itself keeps and shows; its gateway is closed, so that all has left. */
async function leftSince(from: number, gateway: FullGateway): Promise<Seen> {
  const shown = await Promise.all(
    [
      '/metrics',
      '/ui/api/callbacks',
      '/ui/api/logs?limit=200',
      '/ui/api/audit/events?limit=200',
      '/ui/api/dead-letters',
    ].map(async (path) => (await gateway.fetch(path)).text()),
  )
  const tables = ['gateway_spend', 'gateway_audit_event', 'gateway_dead_letter', 'gateway_queue']
  const rows = await Promise.all(
    tables.map((table) => gateway.sql.query({ sql: `SELECT * FROM ${table}`, parameters: [] })),
  )
  await gateway.close()
  const sent = receiver.received.slice(from)
  const textOf = (content: boolean) =>
    sent
      .filter(({ path }) => /langfuse|\/traces|^\/logs\//.test(path) === content)
      .map((one) => `${one.path} ${JSON.stringify(one.headers)} ${readable(one)}`)
      .join('\n')
  return {
    content: textOf(true),
    rest: [textOf(false), ...shown, JSON.stringify(rows.map((one) => one.rows))].join('\n'),
  }
}

/** The canary in any spelling that a sink may give it. */
function count(canary: string, text: string): number {
  const inBase64 = [0, 1, 2].map((at) =>
    Buffer.from('x'.repeat(at) + canary)
      .toString('base64')
      .slice(4, 16),
  )
  const spellings = [canary, encodeURIComponent(canary), Buffer.from(canary).toString('hex'), ...inBase64]
  return spellings.reduce((sum, spelling) => sum + text.split(spelling).length - 1, 0)
}

/** How many calls of a key the tracing service was told of. */
const generationsOf = (keyId: string, text: string) =>
  text.split('"type":"generation-create"').filter((one) => one.slice(0, 2000).includes(keyId)).length

const CALLS = callsWith('').length

describe('with content off for everybody', () => {
  const gateway = gatewayWith({ turn_off_message_logging: true })

  it('no byte of it leaves, whatever the endpoint', async () => {
    const { key, key_id } = await keyHolder(gateway)
    await askAll(gateway, key, KEPT)
    const seen = await leftSince(0, gateway)
    expect([count(KEPT, seen.content), count(KEPT, seen.rest)]).toEqual([0, 0])
    expect(generationsOf(key_id, seen.content)).toBeGreaterThanOrEqual(CALLS)
    expect(seen.rest).toContain('"endpoint":"/v1/audio/transcriptions"')
  }, 60_000)
})

describe('with content on', () => {
  const gateway = gatewayWith({})

  it('no byte of it leaves for a key, a team or a request that keeps it in; that of others goes to few', async () => {
    const from = receiver.received.length
    const made = await gateway.fetch('/ui/api/teams', chatInit({ turn_off_message_logging: true }))
    const { team_id } = (await made.json()) as { team_id: string }
    const quiet = await keyHolder(gateway, { turn_off_message_logging: true } as object)
    const ofTeam = await keyHolder(gateway, { team_id })
    const plain = await keyHolder(gateway)
    const loud = await keyHolder(gateway)
    await askAll(gateway, quiet.key, KEPT)
    await askAll(gateway, ofTeam.key, KEPT)
    await askAll(gateway, plain.key, KEPT, { 'x-gateway-no-log': '1' })
    await askAll(gateway, loud.key, TOLD)
    const seen = await leftSince(from, gateway)
    expect([count(KEPT, seen.content), count(KEPT, seen.rest), count(TOLD, seen.rest)]).toEqual([0, 0, 0])
    for (const { key_id } of [quiet, ofTeam, plain, loud]) {
      expect(generationsOf(key_id, seen.content)).toBeGreaterThanOrEqual(CALLS)
    }
    // Without it the search would find nothing anywhere.
    for (const part of PARTS) expect(seen.content).toContain(`${part} ${TOLD}`)
    // What files hold never leaves, nor does a credential.
    for (const part of ['RIFF', 'ID3']) expect(seen.content).not.toContain(`${part} ${TOLD}`)
    expect(seen.content + seen.rest).not.toContain('sk-upstream-canary-91c2')
  }, 90_000)
})

const PARTS = ['question', 'one', 'native', 'answer', 'streamed', 'prompt', 'say', 'names:', 'heard', 'draw', 'which']
