import { createHook } from 'node:async_hooks'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { newAbort } from '../../../src/lib/abort.ts'
import { nodeTransport } from '../../../src/transport/node-transport.node.ts'
import { answerOf } from '../../support/transport-scene.node.ts'

const CALLS = 50

// Counted, so that a busy machine counts the same. Each of them costs half a microsecond and more.
it('a plain call takes a promise for its head and one for its body, and no timer', async () => {
  const far = createServer((socket) => socket.on('data', () => socket.write(answerOf('{"a":1}'))))
  await once(far.listen(0, '127.0.0.1'), 'listening')
  const transport = nodeTransport()
  const headers = { 'content-type': 'application/json' }
  const origin = `http://127.0.0.1:${(far.address() as AddressInfo).port}`
  const request = { method: 'POST', origin, path: '/v1/chat/completions', headers, body: 'Hello' } as const
  const call = (done: (body: Uint8Array) => void) => {
    const read = ({ body }: Awaited<ReturnType<typeof transport.send>>) => void body.bytes(100).then(done)
    transport.send(request, newAbort()).then(read)
  }
  const whole = () => {
    const { promise, resolve } = Promise.withResolvers<Uint8Array>()
    call(resolve)
    return promise
  }
  await whole()
  await nextTurn()

  const made: Record<string, number> = {}
  const hook = createHook({
    init(_id, type) {
      made[type] = (made[type] ?? 0) + 1
    },
  }).enable()
  for (let at = 0; at < CALLS; at++) {
    await whole()
    // Its connection rests from now on.
    await nextTurn()
  }
  hook.disable()
  const own = Object.fromEntries(Object.entries(made).map(([type, count]) => [type, Math.round(count / CALLS)]))
  // One more of each is that of `then`, and four are of this test.
  expect(own.PROMISE).toBe(8)
  expect(own).not.toHaveProperty('Timeout')
  await transport.close()
  far.close()
})
