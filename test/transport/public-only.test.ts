import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodeTransport } from '../../src/transport/node-transport.node.ts'
import { PrivateAddress } from '../../src/transport/transport.ts'

describe("a request for the outside alone, over Node's transport", () => {
  let asked = 0
  const server = createServer((_, response) => {
    asked += 1
    response.end('inside')
  })
  const transport = nodeTransport()
  let port = 0
  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  })
  afterAll(async () => {
    await transport.close()
    server.closeAllConnections()
    server.close()
  })
  const ask = (publicOnly: boolean) =>
    transport.send(
      { method: 'GET', origin: `http://localhost:${port}`, path: '/', headers: {}, publicOnly },
      new AbortController().signal,
    )

  it('does not go where the name of its host leads into a private network', async () => {
    await expect(ask(true)).rejects.toThrow(PrivateAddress)
    expect(asked).toBe(0)
  })

  it('is apart from others, whose open connections it does not use', async () => {
    expect((await (await ask(false)).body.bytes(100)).byteLength).toBe(6)
    await expect(ask(true)).rejects.toThrow("'localhost' leads into a private network")
    expect(asked).toBe(1)
  })
})
