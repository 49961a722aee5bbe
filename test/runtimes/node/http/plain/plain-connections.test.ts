import { once } from 'node:events'
import { createServer, IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Incoming, Listener, OutgoingAnswer } from '../../../../../src/runtimes/node/http/messages.node.ts'
import {
  type PlainConnections,
  plainConnections,
} from '../../../../../src/runtimes/node/http/plain/plain-connections.node.ts'

/** What came of a request, and whether Node has read it. */
interface Come {
  readonly incoming: Incoming
  readonly outgoing: OutgoingAnswer
  readonly byNode: boolean
}

const HEAD = 'POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n'
const PLAIN = `${HEAD}ok`
const GET = 'GET /b HTTP/1.1\r\nHost: x\r\n\r\n'

let answer: Listener
let come: Come[]
let server: Server
let plain: PlainConnections
let sockets: Socket[]

beforeEach(async () => {
  // What looks after connections every second is called by hand.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  come = []
  sockets = []
  answer = (incoming, outgoing) => {
    outgoing.writeHead(200, { 'content-type': 'text/plain', 'content-length': '6' })
    outgoing.end(Buffer.from(`for ${incoming.url}`))
  }
  const listener: Listener = (incoming, outgoing) => {
    come.push({ incoming, outgoing, byNode: incoming instanceof IncomingMessage })
    answer(incoming, outgoing)
  }
  server = createServer(listener)
  plain = plainConnections(server, listener)
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => socket.end(`refused: ${code}`))
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterEach(() => {
  vi.useRealTimers()
  for (const socket of sockets) socket.destroy()
  plain.closeAll()
  server.closeAllConnections()
  server.close()
})

const pass = (seconds: number) => vi.advanceTimersByTime(1000 * seconds)
const settled = async () => {
  for (let turn = 0; turn < 10; turn++) await nextTurn()
}

/** A client that has said something, and hears what comes. */
function client(text = '') {
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', noDelay: true })
  sockets.push(socket)
  const told = { socket, heard: '', closed: once(socket, 'close') }
  socket
    .on('error', () => {})
    .on('data', (bytes) => {
      told.heard += bytes.toString('latin1')
    })
  if (text !== '') socket.write(text, 'latin1')
  return told
}
const answers = (heard: string) => heard.match(/for \/./g)

describe('a connection', () => {
  it('serves plain requests one after the other', async () => {
    const { socket } = client(PLAIN)
    for (let turn = 0; turn < 3; turn++) {
      const [bytes] = await once(socket, 'data')
      expect(String(bytes)).toMatch(
        /^HTTP\/1\.1 200 OK\r\ncontent-type: text\/plain\r\ncontent-length: 6\r\nDate: \w{3}, [\w :]+ GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=75\r\n\r\nfor \/a$/,
      )
      socket.write(PLAIN)
    }
    expect(come.slice(0, 3).every(({ byNode, incoming }) => !byNode && String(incoming.read()) === 'ok')).toBe(true)
  })

  it('is asked when all others that are ready were read', async () => {
    const told: string[] = []
    answer = () => void told.push('asked')
    server.on('connection', (socket) => socket.prependListener('data', () => told.push('read')))
    const clients = [client(), client(), client()]
    await expect.poll(() => clients.every(({ socket }) => !socket.connecting)).toBe(true)
    await settled()
    for (const { socket } of clients) socket.write(PLAIN)
    await expect.poll(() => told.length).toBe(6)
    expect(told).toEqual(['read', 'read', 'read', 'asked', 'asked', 'asked'])
  })

  it('asks for nothing once it is closed', async () => {
    server.on('connection', (socket) => socket.prependListener('data', () => socket.destroy()))
    const { closed } = client(PLAIN)
    await closed
    await settled()
    expect(come).toEqual([])
  })

  it('takes a request that comes in a few pieces', async () => {
    for (let at = 1; at < PLAIN.length; at++) {
      const told = client(PLAIN.slice(0, at))
      await settled()
      told.socket.write(PLAIN.slice(at))
      await expect.poll(() => answers(told.heard), { message: `cut at ${at}`, interval: 1 }).toEqual(['for /a'])
      told.socket.destroy()
    }
    expect(come.some(({ byNode }) => byNode)).toBe(false)
  })

  it('whose request comes in many pieces is Node’s from then on', async () => {
    const told = client()
    for (const letter of PLAIN) {
      told.socket.write(letter)
      await settled()
    }
    await expect.poll(() => answers(told.heard)).toEqual(['for /a'])
    told.socket.write(PLAIN)
    await expect.poll(() => answers(told.heard)).toEqual(['for /a', 'for /a'])
    expect(come.map(({ byNode }) => byNode)).toEqual([true, true])
  })

  it('whose request does not come in time is Node’s from then on', async () => {
    const told = client(HEAD)
    await settled()
    pass(1)
    expect(come).toEqual([])
    pass(1)
    expect(come.map(({ byNode }) => byNode)).toEqual([true])
    expect(come[0]?.incoming.complete).toBe(false)
    told.socket.write('ok')
    await expect.poll(() => come[0]?.incoming.complete).toBe(true)
  })

  it('answers requests that came together in turn, and those that are not plain by Node', async () => {
    const waiting: OutgoingAnswer[] = []
    const quickly = answer
    answer = (incoming, outgoing) => {
      if (waiting.push(outgoing) > 1) quickly(incoming, outgoing)
    }
    const told = client(PLAIN + PLAIN + GET + PLAIN)
    await expect.poll(() => waiting.length).toBe(1)
    await settled()
    expect(waiting.length).toBe(1)
    waiting[0]?.writeHead(200, { 'content-length': '5' })
    waiting[0]?.end(Buffer.from('first'))
    await expect.poll(() => told.heard).toMatch(/first[\s\S]*for \/a[\s\S]*for \/b[\s\S]*for \/a$/)
    expect(come.map(({ byNode }) => byNode)).toEqual([false, false, true, true])
  })

  it('holds a client back that sends on and on while it is answered', async () => {
    let outgoing: OutgoingAnswer | undefined
    answer = (_, one) => {
      outgoing = one
    }
    const { socket, heard } = client(PLAIN)
    await expect.poll(() => come.length).toBe(1)
    while (socket.write(Buffer.alloc(1_000_000, PLAIN))) await settled()
    await settled()
    const before = socket.writableLength
    await settled()
    expect(socket.writableLength).toBe(before)
    expect([before > 0, heard]).toEqual([true, ''])
    outgoing?.destroy()
  })

  it('of a request that cannot be read is told so by Node', async () => {
    const told = client(`${HEAD.replace('Content-Length: 2', 'Content-Length: 2\r\nTransfer-Encoding: chunked')}ok`)
    await told.closed
    expect(told.heard).toMatch(/^refused: HPE_/)
    const cut = client(HEAD)
    await settled()
    cut.socket.end()
    await cut.closed
    expect(cut.heard).toBe('refused: HPE_INVALID_EOF_STATE')
  })

  it('that says nothing is told so in a minute', async () => {
    const told = client()
    await once(told.socket, 'connect')
    await settled()
    pass(59)
    await settled()
    expect(told.socket.closed).toBe(false)
    pass(1)
    await told.closed
    expect(told.heard).toBe('refused: ERR_HTTP_REQUEST_TIMEOUT')
  })

  it('is closed when nothing came for as long as it is said to be kept, but not while it is answered', async () => {
    const [idle, busy] = [client(PLAIN), client()]
    await expect.poll(() => answers(idle.heard)).toEqual(['for /a'])
    answer = () => {}
    busy.socket.write(PLAIN)
    await expect.poll(() => come.length).toBe(2)
    pass(75)
    await settled()
    expect(idle.socket.closed).toBe(false)
    pass(1)
    await idle.closed
    pass(1000)
    await settled()
    expect(busy.socket.closed).toBe(false)
  })

  it('is closed when all that wait for their next request are, and when all are', async () => {
    const [silent, idle, busy] = [client(), client(PLAIN), client()]
    await expect.poll(() => answers(idle.heard)).toEqual(['for /a'])
    answer = () => {}
    busy.socket.write(PLAIN)
    await expect.poll(() => come.length).toBe(2)
    plain.closeIdle()
    await settled()
    expect(idle.socket.closed, 'it was not known to be idle').toBe(false)
    plain.closeIdle()
    await idle.closed
    expect([silent.socket.closed, busy.socket.closed]).toEqual([false, false])
    plain.closeAll()
    await Promise.all([silent.closed, busy.closed])
  })
})

describe('an answer', () => {
  /** What Node and this server send for it, without the date. */
  async function both(give: (outgoing: OutgoingAnswer) => void | Promise<void>): Promise<[string, string]> {
    answer = (incoming, outgoing) => {
      incoming.resume()
      void give(outgoing)
    }
    const heard: string[] = []
    // A repeated header is for Node.
    for (const request of [PLAIN, PLAIN.replace('Host', 'X-A: b\r\nX-A: c\r\nHost')]) {
      const told = client(request)
      let last = -1
      while (told.heard.length !== last || last === 0) {
        last = told.heard.length
        await settled()
      }
      heard.push(told.heard.replace(/Date: .*\r\n/, '').replace('timeout=5', 'timeout=75'))
    }
    return heard as [string, string]
  }

  const bytes = (length: number) => Buffer.alloc(length, 'abc')
  it.each<[string, (outgoing: OutgoingAnswer) => void | Promise<void>]>([
    [
      'in one write',
      (outgoing) => {
        outgoing.writeHead(200, { 'x-a': 'caf\xe9', 'content-length': '3' })
        outgoing.end(bytes(3))
      },
    ],
    [
      'of many bytes',
      (outgoing) => {
        outgoing.writeHead(200, { 'content-length': '200000' })
        outgoing.end(bytes(200_000))
      },
    ],
    [
      'of no bytes',
      (outgoing) => {
        outgoing.writeHead(401, { 'content-length': '0' })
        outgoing.end(bytes(0))
      },
    ],
    [
      'of a text',
      (outgoing) => {
        outgoing.writeHead(200, { 'content-length': '4' })
        outgoing.end('caf\xe9', 'latin1')
      },
    ],
    [
      'without content',
      (outgoing) => {
        outgoing.writeHead(204, { 'x-a': 'b' })
        outgoing.end()
      },
    ],
    [
      'of a status that nobody knows',
      (outgoing) => {
        outgoing.writeHead(599, { 'content-length': '2' })
        outgoing.end(bytes(2))
      },
    ],
    [
      'with cookies',
      (outgoing) => {
        outgoing.writeHead(200, { 'set-cookie': ['a=1', 'b=2'], 'content-length': '2' })
        outgoing.end(bytes(2))
      },
    ],
    [
      'in chunks',
      async (outgoing) => {
        outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
        outgoing.flushHeaders()
        for (const length of [1, 17, 0, 5000, 20_000, 300]) {
          outgoing.write(bytes(length))
          if (length > 20) await nextTurn()
        }
        outgoing.end()
      },
    ],
    [
      'in chunks, with the last at the end',
      (outgoing) => {
        outgoing.writeHead(200, {})
        outgoing.write(bytes(9))
        outgoing.end(bytes(30))
      },
    ],
    [
      'in chunks, without any',
      (outgoing) => {
        outgoing.writeHead(200, {})
        outgoing.end()
      },
    ],
    [
      'in pieces of a known length',
      async (outgoing) => {
        outgoing.writeHead(200, { 'content-length': '12' })
        outgoing.write(bytes(5))
        await nextTurn()
        outgoing.write(bytes(7))
        outgoing.end()
      },
    ],
    [
      'that is the last',
      (outgoing) => {
        outgoing.shouldKeepAlive = false
        outgoing.writeHead(200, { 'content-length': '2' })
        outgoing.end(bytes(2))
      },
    ],
  ])('%s is the one that Node gives', async (_, give) => {
    const [own, nodes] = await both(give)
    expect(own.length).toBeGreaterThan(20)
    expect(own).toBe(nodes)
    expect(come.map(({ byNode }) => byNode)).toEqual([false, true])
  })

  it.each([
    ['x-a', 'b\r\nx-injected: 1'],
    ['x-a', 'b\0'],
    ['x-a', '\u4e2d'],
    ['x a', 'b'],
    ['', 'b'],
  ])('with a header that cannot be sent (%j: %j) is none, and another one may be given', async (name, value) => {
    answer = (_, outgoing) => {
      expect(() => outgoing.writeHead(200, { [name]: value })).toThrow(TypeError)
      expect(outgoing.headersSent).toBe(false)
      outgoing.writeHead(500, { 'content-length': '2' })
      outgoing.end(bytes(2))
    }
    const told = client(PLAIN)
    await expect.poll(() => told.heard).toMatch(/^HTTP\/1\.1 500 [\s\S]*\r\n\r\nab$/)
    expect(told.heard).not.toMatch(/injected/)
  })

  it('tells of its end when all of it is sent, and ends its connection if it is the last', async () => {
    const events: string[] = []
    answer = (_, outgoing) => {
      for (const event of ['finish', 'close'] as const)
        outgoing.on(event, () => events.push(`${event} ${outgoing.writableFinished} ${outgoing.closed}`))
      outgoing.shouldKeepAlive = false
      outgoing.writeHead(200, { 'content-length': '2' })
      outgoing.end(bytes(2))
      expect(events).toEqual([])
    }
    const told = client(PLAIN)
    await told.closed
    expect(told.heard).toMatch(/Connection: close\r\n\r\nab$/)
    expect(events).toEqual(['finish true false', 'close true true'])
  })

  it.each(['leaves', 'is reset', 'says no more'])('whose client %s tells that it is not sent', async (how) => {
    answer = () => {}
    const told = client(PLAIN)
    await expect.poll(() => come.length).toBe(1)
    const outgoing = come[0]?.outgoing as OutgoingAnswer
    const closed = new Promise<void>((resolve) => outgoing.on('close', resolve))
    if (how === 'leaves') told.socket.destroy()
    else if (how === 'is reset') told.socket.resetAndDestroy()
    else told.socket.end()
    await closed
    expect([outgoing.closed, outgoing.destroyed, outgoing.writableFinished]).toEqual([true, true, false])
    // What is written all the same harms nobody.
    outgoing.writeHead(200, {})
    const failed = new Promise((resolve) => outgoing.write(bytes(10), resolve))
    expect(await failed).toBeInstanceOf(Error)
    outgoing.end(bytes(10))
  })

  it('that is short goes out when all that end in the same turn have ended', async () => {
    const told: string[] = []
    const short = answer
    answer = (incoming, outgoing) => {
      short(incoming, outgoing)
      told.push('ended')
    }
    server.on('connection', (socket) => {
      const write = vi.spyOn(socket, 'write').mockImplementation((...asked) => {
        told.push('written')
        write.mockRestore()
        return socket.write(...asked)
      })
    })
    const clients = [client(), client(), client()]
    await expect.poll(() => clients.every(({ socket }) => !socket.connecting)).toBe(true)
    await settled()
    for (const { socket } of clients) socket.write(PLAIN)
    await expect.poll(() => clients.every(({ heard }) => heard.endsWith('for /a'))).toBe(true)
    expect(told).toEqual(['ended', 'ended', 'ended', 'written', 'written', 'written'])
  })

  it('that has ended does nothing to the next one of its connection', async () => {
    const waiting: OutgoingAnswer[] = []
    answer = (_, outgoing) => void waiting.push(outgoing)
    const told = client(PLAIN + PLAIN)
    await expect.poll(() => waiting.length).toBe(1)
    const [first] = waiting as [OutgoingAnswer]
    first.writeHead(200, {})
    first.write(bytes(2))
    first.end()
    const late = new Promise((resolve) => first.write(bytes(9), resolve))
    await expect.poll(() => waiting.length).toBe(2)
    expect(first.write(bytes(9))).toBe(false)
    expect(await late).toBeInstanceOf(Error)
    first.end(bytes(9))
    first.destroy()
    waiting[1]?.writeHead(200, { 'content-length': '2' })
    waiting[1]?.end(bytes(2))
    await expect.poll(() => told.heard).toMatch(/\r\n\r\n2\r\nab\r\n0\r\n\r\nHTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nab$/)
  })

  it('waits for a client that reads slowly', async () => {
    answer = (_, outgoing) => void outgoing.writeHead(200, {})
    const told = client(PLAIN)
    told.socket.pause()
    await expect.poll(() => come.length).toBe(1)
    const outgoing = come[0]?.outgoing as OutgoingAnswer
    let drained = 0
    outgoing.on('drain', () => {
      drained += 1
    })
    let once = 0
    outgoing.once('drain', () => {
      once += 1
    })
    async function isFull(): Promise<boolean> {
      const before = drained
      if (outgoing.write(bytes(100_000))) return false
      await settled()
      return drained === before
    }
    while (!(await isFull())) await nextTurn()
    const before = drained
    told.socket.resume()
    await expect.poll(() => drained).toBe(before + 1)
    expect(once).toBe(1)
    outgoing.end()
    await expect.poll(() => told.heard.endsWith('\r\n0\r\n\r\n')).toBe(true)
  })
})
