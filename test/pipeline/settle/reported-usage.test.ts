import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configOf, startGateway, type TestGateway } from '../../support/gateway.ts'

const event = (delta: object, usage?: object) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null }], ...(usage ? { usage } : {}) })}\n\n`

const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }]
const answer = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices }

/** Of an answer as a whole it counts what it wrote alone. Of a stream it reports its input with the first word, as some
 *  vendors do, and breaks off before it reports its output. */
const upstream = createServer(async (incoming, outgoing) => {
  if (!(await text(incoming)).includes('"stream":true')) {
    outgoing.writeHead(200, { 'content-type': 'application/json' })
    outgoing.end(JSON.stringify({ ...answer, usage: { prompt_tokens: null, completion_tokens: 7, total_tokens: 7 } }))
    return
  }
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
  outgoing.write(event({ content: 'x'.repeat(40) }, { prompt_tokens: 700, completion_tokens: 0, total_tokens: 700 }))
  outgoing.write(event({ content: 'y'.repeat(360) }), () => setTimeout(() => outgoing.destroy(), 100))
})
let gateway: TestGateway

beforeAll(async () => {
  await once(upstream.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  gateway = await startGateway(configOf(url, { cut: ['cut'] }))
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
})

it('an answer whose provider counts what it wrote alone is billed for what it read, too', async () => {
  const messages = [{ role: 'user', content: 'x'.repeat(400) }]
  await (await gateway.chat({ model: 'cut', messages })).text()
  await gateway.idle()
  const entry = gateway.records.at(-1)?.entry
  expect(entry).toMatchObject({ usage: { inputTokens: expect.any(Number), outputTokens: 7, estimated: true } })
  expect(entry).not.toHaveProperty('usage.inputTokens', 0)
})
