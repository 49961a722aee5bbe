import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configOf, startGateway, type TestGateway } from '../../support/gateway.ts'

const event = (delta: object, usage?: object) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null }], ...(usage ? { usage } : {}) })}\n\n`

const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }]
const answer = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices }

/** Of an answer as a whole it counts what it wrote alone. Of a stream it reports its input with the first word, as some
 *  vendors do, and breaks off before it reports its output. A long answer it ends when it is told to. */
const long: ServerResponse[] = []
const upstream = createServer(async (incoming, outgoing) => {
  const body = await text(incoming)
  if (body.includes('"model":"long"')) {
    outgoing.writeHead(200, { 'content-type': 'application/json' }).write(' '.repeat(2000))
    long.push(outgoing)
    return
  }
  if (!body.includes('"stream":true')) {
    outgoing.writeHead(200, { 'content-type': 'application/json' })
    outgoing.end(JSON.stringify({ ...answer, usage: { prompt_tokens: null, completion_tokens: 7, total_tokens: 7 } }))
    return
  }
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
  const input = { prompt_tokens: 700, completion_tokens: 0, total_tokens: 700 }
  outgoing.write(event({ content: 'x'.repeat(40) }, body.includes('"Hush"') ? undefined : input))
  outgoing.write(event({ content: 'y'.repeat(360) }), () => setTimeout(() => outgoing.destroy(), 100))
})
let gateway: TestGateway

beforeAll(async () => {
  await once(upstream.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  const general = 'general_settings:\n  max_in_flight_bytes: 3000\n'
  gateway = await startGateway(configOf(url, { cut: ['cut'], long: ['long'] }, general))
})
afterAll(async () => {
  await gateway.close()
  upstream.closeAllConnections()
  upstream.close()
})

describe('an answer that is cut after its provider reported the input alone', () => {
  it('is billed for that input and for what was said', async () => {
    const messages = [{ role: 'user', content: 'Hi' }]
    await (await gateway.chat({ model: 'cut', stream: true, messages })).text()
    await gateway.idle()
    expect(gateway.records[0]?.entry).toMatchObject({
      ending: 'truncated',
      usage: { inputTokens: 700, outputTokens: 100, estimated: true },
    })
  })

  it.each(['Hi', 'Hush'])('is billed for no more than its own limit, whatever was reported (%s)', async (content) => {
    const messages = [{ role: 'user', content }]
    await (await gateway.chat({ model: 'cut', stream: true, max_tokens: 60, messages })).text()
    await gateway.idle()
    expect(gateway.records.at(-1)?.entry).toMatchObject({
      ending: 'truncated',
      usage: { outputTokens: 60, estimated: true },
    })
  })
})

it('an answer whose provider counts what it wrote alone is billed for what it read, too', async () => {
  const messages = [{ role: 'user', content: 'x'.repeat(400) }]
  await (await gateway.chat({ model: 'cut', messages })).text()
  await gateway.idle()
  const entry = gateway.records.at(-1)?.entry
  expect(entry).toMatchObject({ usage: { inputTokens: expect.any(Number), outputTokens: 7, estimated: true } })
  expect(entry).not.toHaveProperty('usage.inputTokens', 0)
})

it('an answer that the gateway has no memory to read is billed by an estimate, since its provider is paid', async () => {
  const messages = [{ role: 'user', content: 'x'.repeat(400) }]
  const before = gateway.records.length
  const calls = [1, 2].map(() => gateway.chat({ model: 'long', messages }))
  const refused = await Promise.race(calls)
  expect([refused.status, await refused.json()]).toMatchObject([503, { error: { code: 'too_many_bytes_in_flight' } }])
  for (const one of long) one.end(JSON.stringify({ ...answer, usage: { prompt_tokens: 100, completion_tokens: 7 } }))
  await Promise.all(calls)
  await gateway.idle()
  const entries = gateway.records.slice(before).map(({ entry }) => entry)
  expect(entries).toHaveLength(2)
  expect(entries).toContainEqual(
    expect.objectContaining({
      usage: expect.objectContaining({ inputTokens: 100, outputTokens: 7, estimated: false }),
    }),
  )
  expect(entries).toContainEqual(expect.objectContaining({ usage: expect.objectContaining({ estimated: true }) }))
})
