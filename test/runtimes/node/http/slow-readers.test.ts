import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configOf, MASTER_KEY, startGateway, type TestGateway } from '../../../support/gateway.ts'

const CHUNKS = 200
const WORDS = 'x'.repeat(100_000)
const event = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'long', choices: [{ index: 0, delta, finish_reason }] })}\n\n`

function* long() {
  for (let chunk = 0; chunk < CHUNKS; chunk++) yield event({ content: WORDS })
  yield `${event({}, 'stop')}data: [DONE]\n\n`
}

/** Says more than all buffers on the way hold, as fast as it is taken. */
const upstream = createServer((incoming, outgoing) => {
  incoming.resume()
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
  pipeline(Readable.from(long()), outgoing, () => {})
})
let gateway: TestGateway

beforeAll(async () => {
  await once(upstream.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  const settings = 'router_settings:\n  cooldown_time: 60\n  stream_idle_timeout: 1\n  total_timeout: 5\n'
  gateway = await startGateway(configOf(url, { long: ['long'] }, settings))
})
afterAll(async () => {
  await gateway.close()
  upstream.closeAllConnections()
  upstream.close()
})

async function begun(): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' }
  const asking = request(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers })
  asking.end(JSON.stringify({ model: 'long', stream: true, messages: [{ role: 'user', content: 'Hi' }] }))
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  answer.on('error', () => {})
  return answer
}
const signals = async () => (await gateway.store.signals(['long']))[0]

describe('a client that does not read', () => {
  it('gets all of its answer when it goes on, and nobody takes its pause for the silence of the provider', async () => {
    const answer = await begun()
    await wait(1800)
    let end = ''
    for await (const piece of answer) end = (end + piece).slice(-200)
    expect(end).toContain('[DONE]')
    await gateway.idle()
    expect(await signals()).toMatchObject({ failures: 0, cooledUntil: 0 })
  })

  it('keeps its call no longer than calls may take, and costs the deployment nothing', async () => {
    const answer = await begun()
    try {
      await wait(5800)
      expect(gateway.records.map(({ entry }) => (entry as { ending?: string }).ending)).toContain('client_closed')
      expect(await signals()).toMatchObject({ active: 0, failures: 0, cooledUntil: 0 })
    } finally {
      answer.destroy()
    }
  }, 15_000)
})
