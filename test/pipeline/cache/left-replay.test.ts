import { once } from 'node:events'
import { expect, inject, it } from 'vitest'
import { WebSocket } from 'ws'
import { configOf, MASTER_KEY } from '../../support/gateway.ts'
import { answer } from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'
import { withGateway } from '../../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const model = 'left-replay'
const gateway = withGateway(() =>
  configOf(
    upstream.url,
    { [model]: [model] },
    'general_settings: { responses_websocket: true, cache_enabled: true, cache_max_entry_bytes: 64000000 }\n',
  ),
)

/** More than all buffers on the way hold. */
const TEXT = `${'o'.repeat(1000)} `.repeat(6000)

/** One turn; `leaves`: its client stops reading when the answer has begun, and is gone a little later. */
async function turn(leaves: boolean): Promise<void> {
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer ${MASTER_KEY}` },
  })
  const closed = once(socket, 'close')
  const request = { type: 'response.create', model, input: 'Count.', store: false }
  socket.on('open', () => socket.send(JSON.stringify(request)))
  socket.on('message', (data) => {
    if (leaves) {
      socket.pause()
      setTimeout(() => socket.terminate(), 300)
    } else if (JSON.parse(String(data)).type === 'response.completed') socket.close()
  })
  await closed
}
const finished = () =>
  gateway.logs.filter(({ event }) => event === 'call.finished').map(({ cache, ending }) => [cache, ending])

it('a cached stream whose client has left is over at once, not at the end of its time', async () => {
  await upstream.script(model, [answer({ text: TEXT })])
  await turn(false)
  await gateway.idle()
  expect(finished()).toEqual([['miss', 'answered']])
  await turn(true)
  await expect.poll(finished).toEqual([
    ['miss', 'answered'],
    ['hit', 'client_closed'],
  ])
})
