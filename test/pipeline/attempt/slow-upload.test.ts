import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../../support/gateway.ts'

/** Answers before the whole request has come. */
type Early = (request: IncomingMessage, response: ServerResponse) => void

const channels = [{ alternatives: [{ transcript: 'Hello', words: [] }] }]
const answered: Early = (request, response) => {
  const body = JSON.stringify({ metadata: { duration: 1 }, results: { channels } })
  request.resume().on('end', () => response.setHeader('content-type', 'application/json').end(body))
}
let next: Early = answered
const server = createServer((request, response) => next(request, response))
let gateway: TestGateway

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  gateway = await startGateway(`model_list:
  - model_name: hear
    deployment_id: hear
    gateway_params: { model: deepgram/nova-3, api_base: "http://127.0.0.1:${port}", api_key: sk-canary }
    model_info: { mode: audio_transcription }
`)
})
afterAll(async () => {
  await gateway.close()
  server.close()
})

const HEAD =
  '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nhear\r\n' +
  '--b\r\nContent-Disposition: form-data; name="file"; filename="a.ogg"\r\n\r\nsound'

/** Sends a form, with its end if it has one. */
async function hear(end?: string): Promise<number> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(HEAD))
      if (end === undefined) return
      controller.enqueue(new TextEncoder().encode(end))
      controller.close()
    },
  })
  const headers = { 'content-type': 'multipart/form-data; boundary=b' }
  const init = { method: 'POST', body, duplex: 'half', headers }
  const response = await gateway.fetch('/v1/audio/transcriptions', init as RequestInit)
  await response.text()
  await gateway.idle()
  return response.status
}

const failures = async () => (await gateway.store.signals(['hear']))[0]?.failures
const END = '\r\n--b--\r\n'
const tired: Early = (_, response) => {
  response.writeHead(408, { 'content-type': 'application/json' }).end('{"err_code":"SLOW_UPLOAD"}')
}

it('a provider that gave up on a slow upload is not blamed for it', async () => {
  next = answered
  expect(await hear(END)).toBe(200)
  next = tired
  expect(await hear()).toBe(504)
  next = ({ socket }) => void setTimeout(() => socket.destroy(), 50)
  expect(await hear()).toBe(502)
  expect(await failures()).toBe(0)
})

it('one that lets a whole upload wait is', async () => {
  next = (request, response) => void request.resume().on('end', () => tired(request, response))
  expect(await hear(END)).toBe(504)
  expect(await failures()).toBe(1)
})
