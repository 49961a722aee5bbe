import { request } from 'node:http'
import { expect, it } from 'vitest'
import { withGateway } from '../../../support/with-gateway.ts'

const gateway = withGateway('model_list: [{ model_name: echo, gateway_params: { model: echo/echo } }]\n')

/** Asks for a WebSocket, as Codex does before it goes on over HTTP. */
function upgraded(path: string): Promise<{ status: number | undefined; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number | undefined; body: string }>()
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  }
  const asking = request(`${gateway.url}${path}`, { headers })
  asking.on('error', reject)
  asking.on('upgrade', () => reject(new Error('a WebSocket was opened')))
  asking.on('response', async (response) => {
    const body = (await response.toArray()).join('')
    resolve({ status: response.statusCode, body })
  })
  asking.end()
  return promise
}

it('a WebSocket is refused at once, with the status at which its clients go on over HTTP', async () => {
  const { status, body } = await upgraded('/v1/responses')
  expect([status, JSON.parse(body)]).toMatchObject([426, { error: { code: 'upgrade_refused' } }])
  expect((await upgraded('/v1/nowhere')).status).toBe(404)
})
