import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { joinBytes } from '../../../src/lib/bytes/bytes.ts'
import { bedrock } from '../../../src/providers/bedrock/index.ts'
import { gatewayParams } from '../../../src/routing/configuration.ts'
import { openHeaders } from '../../../src/transport/open-headers.ts'
import type { Transport } from '../../../src/transport/transport.ts'
import { awsEvent, awsException } from '../../support/aws-events.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { chunksOf, readStream, spokenText } from '../../support/sse.ts'

const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
const TOKEN = 'IQoJb3JpZ2luX2VjEXAMPLE=='
const keys = { aws_access_key_id: 'AKIDEXAMPLE', aws_secret_access_key: SECRET, aws_session_token: TOKEN }
const MODEL = 'anthropic.claude-sonnet-4-5-20250929-v1:0'

const sha256 = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** Signature version 4 as AWS documents it: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
function signatureOf(request: {
  path: string
  host: string
  date: string
  token?: string | undefined
  body: string | Uint8Array
}): string {
  // Every segment of the path is encoded once more than it is sent; S3 alone differs.
  const path = request.path.split('/').map(encodeURIComponent).join('/')
  const headers = [
    `host:${request.host}`,
    `x-amz-date:${request.date}`,
    ...(request.token ? [`x-amz-security-token:${request.token}`] : []),
  ]
  const names = headers.map((header) => header.split(':')[0]).join(';')
  const canonical = ['POST', path, '', ...headers, '', names, sha256(request.body)].join('\n')
  const day = request.date.slice(0, 8)
  const scope = `${day}/eu-central-1/bedrock/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', request.date, scope, sha256(canonical)].join('\n')
  const key = hmac(hmac(hmac(hmac(`AWS4${SECRET}`, day), 'eu-central-1'), 'bedrock'), 'aws4_request')
  const signature = hmac(key, toSign).toString('hex')
  return `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/${scope}, SignedHeaders=${names}, Signature=${signature}`
}

const unused: Transport = { send: () => Promise.reject(new Error('signing needs no network')) }
const sign = async (parameters: object, body: string | Uint8Array, now: number) => {
  const connection = bedrock.connect(
    gatewayParams().parse({ model: `bedrock/${MODEL}`, aws_region_name: 'eu-central-1', ...parameters }),
    {},
  )
  const { origin, headers } = connection
  const path = `/model/${encodeURIComponent(MODEL)}/converse`
  const means = { transport: unused, signal: AbortSignal.timeout(1000), now }
  return bedrock.authorize?.({ method: 'POST', origin, path, headers, body }, connection, means)
}

describe('the signature of Bedrock', () => {
  const now = Date.UTC(2026, 1, 3, 4, 5, 6, 789)

  it.each([
    ['text', '{"messages":[{"role":"user","content":[{"text":"Grüße"}]}]}'],
    ['bytes', new TextEncoder().encode('{"messages":[]}')],
  ])('is what AWS documents, over a body of %s', async (_, body) => {
    const signed = await sign(keys, body, now)
    const headers = openHeaders(signed?.headers ?? {})
    expect(headers['x-amz-date']).toBe('20260203T040506Z')
    expect(headers['x-amz-security-token']).toBe(TOKEN)
    expect(headers.authorization).toBe(
      signatureOf({
        path: `/model/${encodeURIComponent(MODEL)}/converse`,
        host: 'bedrock-runtime.eu-central-1.amazonaws.com',
        date: '20260203T040506Z',
        token: TOKEN,
        body,
      }),
    )
    const written = JSON.stringify(signed?.headers)
    for (const canary of [SECRET, TOKEN, 'AKIDEXAMPLE']) expect(written).not.toContain(canary)
  })

  it('changes with the day, without a session too', async () => {
    const { aws_session_token: _, ...long } = keys
    for (const days of [0, 1, 2, 3, 4]) {
      const signed = await sign(long, '{}', now + days * 86_400_000)
      const headers = openHeaders(signed?.headers ?? {})
      expect(headers['x-amz-security-token']).toBeUndefined()
      const host = 'bedrock-runtime.eu-central-1.amazonaws.com'
      const path = `/model/${encodeURIComponent(MODEL)}/converse`
      expect(headers.authorization).toBe(signatureOf({ path, host, date: headers['x-amz-date'] ?? '', body: '{}' }))
    }
  })

  it('is left out under an API key', async () => {
    const signed = await sign({ api_key: 'bedrock-key' }, '{}', now)
    expect(openHeaders(signed?.headers ?? {})).toMatchObject({ authorization: 'Bearer bedrock-key' })
    expect(signed?.headers).not.toHaveProperty('x-amz-date')
  })

  it.each([
    ['credentials', { region: 'eu-central-1' }, 'aws_access_key_id'],
    ['a region', { api_key: 'k' }, 'region'],
  ])('cannot do without %s', (_, parameters, named) => {
    const parsed = gatewayParams().parse({ model: 'bedrock/x', ...parameters })
    expect(() => bedrock.connect(parsed, {})).toThrow(named)
  })
})

/** What the far end answers next, and what it was asked. */
interface Exchange {
  status: number
  headers: Record<string, string>
  pieces: readonly Uint8Array[]
  asked: { path: string; body: string; signed: boolean }[]
}
const far: Exchange = { status: 200, headers: {}, pieces: [], asked: [] }

const server = createServer(async (request, response) => {
  const body = await bodyOf(request)
  const signature = signatureOf({
    path: request.url ?? '',
    host: request.headers.host ?? '',
    date: String(request.headers['x-amz-date']),
    token: TOKEN,
    body,
  })
  const signed = request.headers.authorization === signature
  far.asked.push({ path: request.url ?? '', body: body.toString(), signed })
  response.writeHead(far.status, far.headers)
  for (const piece of far.pieces) {
    response.write(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
  response.end()
})

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  return Buffer.concat(pieces)
}

const encoder = new TextEncoder()
const says = (status: number, value: unknown, headers: Record<string, string> = {}) =>
  Object.assign(far, {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    pieces: [encoder.encode(JSON.stringify(value))],
  })
const streams = (...events: readonly Uint8Array[]) => {
  const bytes = joinBytes(events)
  const pieces = Array.from({ length: Math.ceil(bytes.byteLength / 7) }, (_, at) => bytes.subarray(7 * at, 7 * at + 7))
  Object.assign(far, { status: 200, headers: { 'content-type': 'application/vnd.amazon.eventstream' }, pieces })
}

describe('Bedrock behind the gateway', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const deployment = (id: string, model: string) => `
  - model_name: ${id}
    deployment_id: ${id}
    gateway_params:
      model: bedrock/${model}
      api_base: ${address}
      region: eu-central-1
      aws_access_key_id: ${keys.aws_access_key_id}
      aws_secret_access_key: ${SECRET}
      aws_session_token: ${TOKEN}
    model_info: { cached_input_cost_per_token: 0.000001 }
`
    const list = deployment('claude', MODEL) + deployment('titan', 'amazon.titan-embed-text-v2:0')
    gateway = await startGateway(`router_settings: { num_retries: 0, cooldown_time: 0 }\nmodel_list:\n${list}`)
  })
  afterAll(async () => {
    await gateway.close()
    await new Promise((resolve) => server.close(resolve))
  })
  beforeEach(() => {
    far.asked = []
  })

  const messages = [{ role: 'user', content: 'Hello' }]
  const finished = async () => {
    await gateway.idle()
    return gateway.logs.filter(({ event }) => event === 'call.finished').at(-1)
  }

  it('answers a signed call', async () => {
    const message = { role: 'assistant', content: [{ text: 'Grüße' }] }
    const usage = { inputTokens: 4, outputTokens: 2, totalTokens: 16, cacheReadInputTokens: 10 }
    says(200, { output: { message }, stopReason: 'end_turn', usage }, { 'x-amzn-requestid': 'r1' })
    const response = await gateway.chat({ model: 'claude', messages })
    expect(await response.json()).toMatchObject({
      id: 'chatcmpl-r1',
      object: 'chat.completion',
      model: 'claude',
      choices: [{ message: { role: 'assistant', content: 'Grüße' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 14, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 10 } },
    })
    const path = `/model/${encodeURIComponent(MODEL)}/converse`
    expect(far.asked).toEqual([
      { path, body: '{"messages":[{"role":"user","content":[{"text":"Hello"}]}]}', signed: true },
    ])
    expect(await finished()).toMatchObject({
      provider: 'bedrock',
      ending: 'answered',
      usage: { inputTokens: 14, outputTokens: 2, cachedInputTokens: 10, estimated: false },
    })
  })

  it('streams parallel tool calls as chunks, and their usage to a client that asked', async () => {
    const start = (contentBlockIndex: number, toolUseId: string, name: string) =>
      awsEvent('contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId, name } } })
    const input = (contentBlockIndex: number, text: string) =>
      awsEvent('contentBlockDelta', { contentBlockIndex, delta: { toolUse: { input: text } } })
    streams(
      awsEvent('messageStart', { role: 'assistant' }),
      awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Grüße' } }),
      start(1, 'a', 'weather'),
      start(2, 'b', 'time'),
      input(1, '{"city":'),
      input(2, '{}'),
      input(1, '"Zürich"}'),
      awsEvent('messageStop', { stopReason: 'tool_use' }),
      awsEvent('metadata', { usage: { inputTokens: 4, outputTokens: 9, totalTokens: 13 } }),
    )
    const tools = [{ type: 'function', function: { name: 'weather' } }]
    const body = { model: 'claude', messages, tools, stream: true, stream_options: { include_usage: true } }
    const received = await readStream(await gateway.chat(body))
    expect(received.events.at(-1)?.data).toBe('[DONE]')
    expect(spokenText(received)).toBe('Grüße')
    const written: Record<number, string> = {}
    type Chunk = { choices: { delta: { tool_calls?: { index: number; function: { arguments: string } }[] } }[] }
    for (const chunk of chunksOf(received) as Chunk[]) {
      for (const call of chunk.choices[0]?.delta.tool_calls ?? []) {
        written[call.index] = (written[call.index] ?? '') + call.function.arguments
      }
    }
    expect(written).toEqual({ 0: '{"city":"Zürich"}', 1: '{}' })
    expect(chunksOf(received).at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 4, completion_tokens: 9 } })
    expect(far.asked[0]).toMatchObject({ path: `/model/${encodeURIComponent(MODEL)}/converse-stream`, signed: true })
    expect(await finished()).toMatchObject({ ending: 'answered', usage: { inputTokens: 4, outputTokens: 9 } })
  })

  it('ends a stream that fails with an error event', async () => {
    streams(
      awsEvent('messageStart', { role: 'assistant' }),
      awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Grüße' } }),
      awsException('modelStreamErrorException', 'Broken'),
    )
    const received = await readStream(await gateway.chat({ model: 'claude', messages, stream: true }))
    expect(JSON.parse(received.events.at(-1)?.data ?? '')).toMatchObject({ error: { code: 'upstream_failed' } })
    expect(received.text).not.toContain('[DONE]')
  })

  it('names its errors', async () => {
    const type = (name: string) => ({ 'x-amzn-errortype': `${name}:` })
    says(400, { message: 'Input is too long for requested model.' }, type('ValidationException'))
    const tooLong = await gateway.chat({ model: 'claude', messages })
    expect(tooLong.status).toBe(400)
    expect(await tooLong.json()).toMatchObject({ error: { code: 'context_length_exceeded' } })
    says(403, { message: 'The security token is invalid.' }, type('UnrecognizedClientException'))
    const refused = await gateway.chat({ model: 'claude', messages })
    expect(refused.status).toBe(502)
    expect(await refused.json()).toMatchObject({ error: { code: 'upstream_refused' } })
  })

  it('is not asked for what it cannot be told, and is not blamed for it', async () => {
    const failures = async () => {
      const report = (await (await gateway.fetch('/health/deployments?model=claude')).json()) as {
        deployments: { consecutive_failures: number; last_error_at: string | null }[]
      }
      const [claude] = report.deployments
      return { count: claude?.consecutive_failures, at: claude?.last_error_at }
    }
    await gateway.idle()
    const before = await failures()
    const response = await gateway.chat({ model: 'claude', messages, n: 2 })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', param: 'n' } })
    expect(far.asked).toEqual([])
    expect(await finished()).toMatchObject({ status: 400, errorType: 'invalid_request_error', attempts: 1 })
    expect(await failures()).toEqual(before)
  })

  it('embeds', async () => {
    says(200, { embedding: [0.5], inputTextTokenCount: 3 })
    const response = await gateway.fetch('/v1/embeddings', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'titan', input: 'a' }),
    })
    expect(await response.json()).toMatchObject({ data: [{ index: 0, embedding: [0.5] }], usage: { prompt_tokens: 3 } })
    expect(await finished()).toMatchObject({ mode: 'embedding', usage: { inputTokens: 3 } })
  })
})
