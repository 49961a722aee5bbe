import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configOf, startGateway, type TestGateway } from '../../support/gateway.ts'

const event = (delta: object, usage?: object) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null }], ...(usage ? { usage } : {}) })}\n\n`

/** Reports its input with the first word, as some vendors do, and breaks off before it reports its output. */
const upstream = createServer((incoming, outgoing) => {
  incoming.resume()
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
