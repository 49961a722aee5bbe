import { connect } from 'node:net'
import { WebSocket } from 'undici'
import { describe, expect, inject, it } from 'vitest'
import { adminApi } from '../../../support/admin-api.ts'
import { configOf, MASTER_KEY } from '../../../support/gateway.ts'
import { responseEvent } from '../../../support/open-responses.ts'
import { bodyOf } from '../../../support/upstream/call.ts'
import { answer, rateLimited } from '../../../support/upstream/index.ts'
import { upstreamClient } from '../../../support/upstream-client.ts'
import { withFullGateway, withGateway } from '../../../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const model = 'responses-socket'
const gateway = withGateway(() =>
  configOf(
    upstream.url,
    { [model]: [model] },
    'general_settings: { responses_websocket: true, max_json_bytes: 100000, max_key_in_flight_bytes: 150000 }\nrouter_settings: { num_retries: 0, cooldown_time: 0 }\n',
  ),
)

type Event = { type: string; status?: number; error?: { code: string }; response?: { id: string; output: unknown[] } }

async function connected(path = '/v1/responses', key = MASTER_KEY, base = gateway.url) {
  const url = base.replace('http', 'ws') + path
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${key}` } } as never)
  const heard: Event[] = []
  let wake = () => {}
  socket.addEventListener('message', ({ data }) => {
    heard.push(JSON.parse(String(data)))
    wake()
  })
  const closed = new Promise<number>((resolve) => socket.addEventListener('close', ({ code }) => resolve(code)))
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve())
    socket.addEventListener('error', () => reject(new Error('refused')))
  })
  return {
    socket,
    closed,
    /** One turn: the events up to its end. */
    async turn(request: object | string): Promise<Event[]> {
      heard.length = 0
      socket.send(
        typeof request === 'string' ? request : JSON.stringify({ type: 'response.create', model, ...request }),
      )
      while (!/^(error|response\.(completed|incomplete|failed))$/.test(heard.at(-1)?.type ?? '')) {
        await new Promise<void>((resolve) => (wake = resolve))
      }
      return [...heard]
    },
  }
}
const messagesSent = async () =>
  (bodyOf((await upstream.calls(model)).at(-1) as never) as { messages: { content: string }[] }).messages.map(
    ({ content }) => content,
  )

describe('Responses over a WebSocket', () => {
  it('answers one turn after the other with the events of a stream', async () => {
    await upstream.script(model, [answer({ text: 'One two.' })])
    const { turn, socket } = await connected()
    for (const input of ['Count.', [{ type: 'message', role: 'user', content: 'Again.' }]]) {
      const events = await turn({ input })
      for (const event of events) responseEvent.parse(event)
      expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { store: true } })
    }
    socket.close()
  })

  it('goes on with an answer that nobody keeps, on its own connection alone', async () => {
    await upstream.script(model, [answer({ text: 'OK.' })])
    const first = await connected()
    const id = (await first.turn({ store: false, input: 'The word is cobalt.' })).at(-1)?.response?.id
    const second = await first.turn({ store: false, input: 'The word?', previous_response_id: id })
    expect(second.at(-1)).toMatchObject({ type: 'response.completed', response: { previous_response_id: id } })
    expect(await messagesSent()).toEqual(['The word is cobalt.', 'OK.', 'The word?'])
    const other = await connected()
    const lost = await other.turn({ store: false, input: 'The word?', previous_response_id: id })
    expect(lost).toMatchObject([{ type: 'error', status: 404, error: { code: 'previous_response_not_found' } }])
    expect((await other.turn({ store: false, input: 'Anew.' })).at(-1)?.type).toBe('response.completed')
    for (const { socket } of [first, other]) socket.close()
  })

  it('forgets what a failed turn wanted to continue', async () => {
    await upstream.script(model, [answer({ text: 'OK.' })])
    const { turn, socket } = await connected()
    const id = (await turn({ store: false, input: 'Ember.' })).at(-1)?.response?.id
    const output = [{ type: 'function_call_output', call_id: 'call_missing', output: 'x' }]
    const failed = await turn({ store: false, previous_response_id: id, input: output })
    expect(failed).toMatchObject([{ type: 'error', status: 400 }])
    const stale = await turn({ store: false, previous_response_id: id, input: 'On.' })
    expect(stale).toMatchObject([{ type: 'error', error: { code: 'previous_response_not_found' } }])
    socket.close()
  })

  it('takes input without an answer, and goes on from it', async () => {
    await upstream.script(model, [answer({ text: 'OK.' })])
    const { turn, socket } = await connected()
    const before = (await upstream.calls(model)).length
    const warm = await turn({ store: false, generate: false, input: 'Known.' })
    expect(await upstream.calls(model)).toHaveLength(before)
    await turn({ store: false, input: 'Go.', previous_response_id: warm.at(-1)?.response?.id })
    expect(await messagesSent()).toEqual(['Known.', 'Go.'])
    socket.close()
  })

  it('remembers no more than a body may have, and none beyond the memory of its key', async () => {
    const warm = { store: false, generate: false, input: 'x'.repeat(60_000) }
    const [one, two, third] = [await connected(), await connected(), await connected()]
    const previous_response_id = (await one.turn(warm)).at(-1)?.response?.id
    expect(await one.turn({ ...warm, previous_response_id })).toMatchObject([
      { status: 413, error: { code: 'payload_too_large' } },
    ])
    for (const { turn } of [one, two]) expect((await turn(warm)).at(-1)?.type).toBe('response.completed')
    const refused = { type: 'error', status: 503, error: { code: 'too_many_bytes_in_flight' } }
    expect(await third.turn(warm)).toMatchObject([refused])
    one.socket.close()
    await expect.poll(async () => (await third.turn(warm)).at(-1)?.type).toBe('response.completed')
    for (const { socket } of [two, third]) socket.close()
  })

  it('passes integers of 64 bits on as they are', async () => {
    await upstream.script(model, [answer({ text: 'OK.' })])
    const { rawJSON } = JSON as unknown as { rawJSON(text: string): object }
    const id = { type: 'integer', maximum: rawJSON('9223372036854775807') }
    const tools = [{ type: 'function', name: 'f', parameters: { type: 'object', properties: { id } } }]
    const { turn, socket } = await connected()
    expect((await turn({ input: 'Go.', tools })).at(-1)?.type).toBe('response.completed')
    const { body } = (await upstream.calls(model)).at(-1) ?? {}
    expect(new TextDecoder().decode(body)).toContain('"maximum":9223372036854775807')
    socket.close()
  })

  it('tells what is wrong and stays open', async () => {
    await upstream.script(model, [rateLimited({ seconds: 7 }), answer({ text: 'OK.' })])
    const { turn, socket, closed } = await connected()
    expect(await turn({ type: 'session.update' })).toMatchObject([{ error: { code: 'invalid_message' } }])
    const deep = `{"type":"response.create","input":"x","deep":${'['.repeat(5000)}${']'.repeat(5000)}}`
    expect(await turn(deep)).toMatchObject([{ status: 400, error: { code: 'nested_too_deeply' } }])
    expect(await turn({ model: 'nope', input: 'x' })).toMatchObject([
      { status: 404, error: { code: 'model_not_found' } },
    ])
    expect(await turn({ input: 'x' })).toMatchObject([{ status: 429 }])
    expect((await turn({ input: 'x' })).at(-1)?.type).toBe('response.completed')
    socket.send('x'.repeat(200_000))
    expect(await closed).toBe(1009)
  })

  it('changes nothing for who offers another upgrade, or sends an address that is none', async () => {
    await upstream.script(model, [answer({ text: 'OK.' })])
    const asked = async (path: string, upgrade: string, method: string, body: string) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1', () => {
        const head = [
          ...[`${method} ${path} HTTP/1.1`, 'Host: localhost', 'Connection: Upgrade, close', `Upgrade: ${upgrade}`],
          ...[
            `Authorization: Bearer ${MASTER_KEY}`,
            'Content-Type: application/json',
            `Content-Length: ${body.length}`,
          ],
        ]
        socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
      })
      let heard = ''
      socket.on('data', (piece) => {
        heard += piece
      })
      socket.on('error', reject).on('close', () => resolve(heard))
      return promise
    }
    // As Java's client does with each request.
    const call = JSON.stringify({ model, input: 'Hi.' })
    expect(await asked('/v1/responses', 'h2c', 'POST', call)).toMatch(/^HTTP\/1\.1 200 /)
    expect(await asked('//', 'websocket', 'GET', '')).toMatch(/^HTTP\/1\.1 4/)
    expect(await asked('/v1/responses', 'websocket', 'POST', call)).toMatch(/^HTTP\/1\.1 200 /)
    // No handshake.
    expect(await asked('/v1/responses', 'websocket', 'GET', '')).toMatch(
      /^HTTP\/1\.1 400 [\s\S]*"type":"invalid_request_error"/,
    )
    const { turn, socket } = await connected()
    expect((await turn({ input: 'Still here?' })).at(-1)?.type).toBe('response.completed')
    socket.close()
  })

  it('opens for those with a key, at its path', async () => {
    await expect(connected('/v1/responses', 'sk-wrong')).rejects.toThrow('refused')
    await expect(connected('/v1/chat/completions')).rejects.toThrow('refused')
  })
})

describe('of keys that are kept', () => {
  const full = withFullGateway(
    'general_settings: { responses_websocket: true }\nmodel_list: [{ model_name: echo, gateway_params: { model: echo/x } }]',
  )
  const ask = adminApi(() => full)

  it('opens no more for one that was revoked since it was last seen', async () => {
    const { body } = await ask('POST', '/keys', { rpm_limit: 1 })
    const first = await connected('/v1/responses', body.key, full.url)
    expect((await first.turn({ model: 'echo', input: 'Hi' })).at(-1)?.type).toBe('response.completed')
    const second = await connected('/v1/responses', body.key, full.url)
    await ask('POST', `/keys/${body.key_id}/revoke`)
    await expect(connected('/v1/responses', body.key, full.url)).rejects.toThrow('refused')
    for (const { socket } of [first, second]) socket.close()
  })
})
