import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, request as send } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { nodeTransport } from '../../src/transport/node-transport.node.ts'
import { certificateOf, trusting } from '../support/certificate.node.ts'

const PASSWORD = 'the-proxys-own'

describe('through the proxies that the environment names', () => {
  let asked: string[] = []
  let servers: Server[] = []
  let [plain, secure, proxy] = ['', '', '']
  let forget = () => {}
  let transport: ReturnType<typeof nodeTransport>

  async function listening(server: Server): Promise<string> {
    server.listen(0, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    return `127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  const isKnown = ({ headers }: IncomingMessage) =>
    headers['proxy-authorization'] === `Basic ${Buffer.from(`gateway:${PASSWORD}`).toString('base64')}`

  /** Passes plain requests on for who knows its password. */
  const forwarding = createServer((request, response) => {
    if (!isKnown(request)) return void response.writeHead(407).end()
    asked.push(request.url ?? '')
    const { method = '', headers } = request
    request.pipe(send(request.url ?? '', { method, headers }, (answer) => answer.pipe(response)))
  })
  /** Opens asked for the same. */
  forwarding.on('connect', (request, client) => {
    if (!isKnown(request)) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n')
      return
    }
    asked.push(request.url ?? '')
    const [host, port] = (request.url ?? '').split(':')
    const far = connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      far.pipe(client).pipe(far)
    })
    for (const end of [far, client]) end.on('error', () => far.destroy())
  })

  beforeAll(async () => {
    const certificate = await certificateOf('127.0.0.1')
    forget = trusting(certificate)
    plain = await listening(createServer((request, response) => request.pipe(response)))
    secure = await listening(createSecureServer(certificate, (request, response) => request.pipe(response)))
    proxy = await listening(forwarding)
  })
  afterAll(() => {
    forget()
    for (const server of servers) server.close().closeAllConnections()
    servers = []
  })
  beforeEach(() => {
    asked = []
    return async () => {
      vi.unstubAllEnvs()
      await transport.close()
    }
  })

  function begin(proxied: boolean, { url = `http://gateway:${PASSWORD}@${proxy}`, around = '' } = {}): void {
    for (const name of ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY']) vi.stubEnv(name, url)
    for (const name of ['no_proxy', 'NO_PROXY']) vi.stubEnv(name, around)
    transport = nodeTransport({ proxied })
  }

  async function ask(origin: string, body: string, publicOnly = false): Promise<string> {
    const answer = await transport.send(
      { method: 'POST', origin, path: '/', headers: {}, body, publicOnly },
      new AbortController().signal,
    )
    return Buffer.from(await answer.body.bytes(1000)).toString()
  }

  it('go requests over TLS and plain ones', async () => {
    begin(true)
    expect(await ask(`https://${secure}`, 'a secret')).toBe('a secret')
    expect(await ask(`http://${plain}`, 'plain')).toBe('plain')
    expect(asked).toEqual([secure, `http://${plain}/`])
  })

  it('go none to hosts of NO_PROXY, and none where they are not wanted', async () => {
    begin(true, { around: '127.0.0.1' })
    expect(await ask(`https://${secure}`, 'direct')).toBe('direct')
    await transport.close()
    begin(false)
    expect(await ask(`http://${plain}`, 'direct')).toBe('direct')
    expect(asked).toEqual([])
  })

  it('go none for the outside alone, whose names are looked up here', async () => {
    begin(true)
    await expect(ask(`https://localhost:${secure.split(':')[1]}`, '', true)).rejects.toThrow('a private network')
    expect(asked).toEqual([])
  })

  it('fails what a proxy refuses, without a word of its address', async () => {
    begin(true, { url: `http://gateway:wrong-password@${proxy}` })
    const refused = await ask(`https://${secure}`, '').catch((error: Error) => error)
    expect(refused).toMatchObject({ message: `the connection to https://${secure} failed: UND_ERR_ABORTED` })
  })
})
