import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { footprints } from '../../../../src/lib/footprints.ts'
import { type Client, clientClosed } from '../../../../src/pipeline/client.ts'
import { nodeClient } from '../../../../src/runtimes/node/http/client.node.ts'
import { openAnswer } from '../../../../src/runtimes/node/http/drain.node.ts'
import { temporaryFiles } from '../../../../src/runtimes/node/http/temporary-file.node.ts'

const server = createServer()
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const clients = { defer: () => {}, scratch: temporaryFiles(tmpdir()) }

/** The far end of a request whose client has left before anybody asked for its body, as one does while its key is
 *  looked up. */
async function departed(request: string): Promise<Client> {
  const arriving = once(server, 'request')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(request)
  const [incoming, outgoing] = (await arriving) as [IncomingMessage, ServerResponse]
  const closed = once(outgoing, 'close')
  socket.destroy()
  await closed
  return nodeClient(incoming, openAnswer(outgoing), clients)
}

const footprint = footprints({ total: 1000, owner: 1000 }, Date.now).open('key')
const head = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n'

describe('the body of a client that has left already', () => {
  it.each([
    ['nothing of it came', head],
    ['a part of it came', `${head}12345`],
  ])('is not waited for: %s', async (_, request) => {
    const client = await departed(request)
    await expect(client.body(100, footprint)).rejects.toMatchObject({ failure: 'client_closed' })
  })

  it('is there when all of it came', async () => {
    const client = await departed(`${head}1234567890`)
    expect(new TextDecoder().decode(await client.body(100, footprint))).toBe('1234567890')
  })
})

describe('a body of a declared length', () => {
  it('that came in pieces stays when its client leaves: what was asked for is billed then', async () => {
    const arriving = once(server, 'request')
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write(`${head}12345`)
    const [incoming, outgoing] = (await arriving) as [IncomingMessage, ServerResponse]
    const answer = openAnswer(outgoing)
    const body = nodeClient(incoming, answer, clients).body(100, footprint)
    await once(incoming, 'data')
    socket.write('67890')
    const bytes = await body
    answer.left.abort(clientClosed())
    socket.destroy()
    expect(new TextDecoder().decode(bytes)).toBe('1234567890')
  })

  it('is counted before it comes, so that another one is refused at once and discarded, and this one is received', async () => {
    const all = footprints({ total: 300_000, owner: 300_000 }, Date.now)
    const sockets = []
    const bodies: Promise<Uint8Array>[] = []
    for (let sent = 0; sent < 2; sent++) {
      const arriving = once(server, 'request')
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
      sockets.push(socket)
      socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 200000\r\n\r\n')
      const [incoming, outgoing] = (await arriving) as [IncomingMessage, ServerResponse]
      const client = nodeClient(incoming, openAnswer(outgoing), clients)
      bodies.push(client.body(1_000_000, all.open('key')) as Promise<Uint8Array>)
    }
    const [first, second] = bodies
    expect(all.total).toBe(200_000)
    await expect(second).rejects.toMatchObject({ failure: 'overloaded' })
    for (const socket of sockets) socket.write('x'.repeat(200_000))
    expect((await first)?.byteLength).toBe(200_000)
    expect(all.total).toBe(200_000)
    for (const socket of sockets) socket.destroy()
  })
})

describe('an upload', () => {
  it('lies in another folder where there is none for temporary files', async () => {
    vi.stubEnv('TMPDIR', '/dev/null/none')
    const scratch = await temporaryFiles(process.cwd())()
    vi.unstubAllEnvs()
    await scratch.append(new Uint8Array([1, 2, 3]))
    expect(await scratch.read(1, 10)).toEqual(new Uint8Array([2, 3]))
    scratch.close()
  })
})
