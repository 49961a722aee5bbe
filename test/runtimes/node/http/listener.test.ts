import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { configOf, MASTER_KEY } from '../../../support/gateway.ts'
import { withGateway } from '../../../support/with-gateway.ts'

const gateway = withGateway(() => configOf('http://127.0.0.1:9', { never: ['never'] }))

/** What comes over a connection until it ends, or until `enough` of it is there. */
async function say(text: string, enough: RegExp = /$^/): Promise<string> {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.write(text)
  let heard = ''
  const done = Promise.withResolvers<void>()
  socket.on('data', (piece) => {
    heard += piece
    if (enough.test(heard)) done.resolve()
  })
  socket.on('close', () => done.resolve()).on('error', () => done.resolve())
  await done.promise
  socket.destroy()
  return heard
}

const get = (target: string, headers = '') =>
  say(`GET ${target} HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n${headers}\r\n`)

describe('a request', () => {
  it.each([
    '/health/liveliness',
    '/health/liveliness?x=\\',
    'http://elsewhere.test/health/liveliness',
    '/v1/./../health/liveliness',
    '/v1/%2e%2e/health/liveliness',
    '/health/%6civeliness',
  ])('to %s is one to a path', async (target) => {
    expect(await get(target)).toMatch(/^HTTP\/1\.1 200 /)
  })

  it.each(['/health\\liveliness', 'http://[/', 'ftp://a/health/liveliness'])(
    'to %s has a clear refusal',
    async (target) => {
      const answer = await get(target)
      expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*"type":"invalid_request_error"/)
    },
  )

  it('whatever host it names is answered the same', async () => {
    expect(await say('GET /health/liveliness HTTP/1.1\r\nHost: a b\\c\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 200 /,
    )
  })

  it('that names no host, or two, has a clear refusal, unless it is of HTTP/1.0', async () => {
    for (const hosts of ['', 'Host: a\r\nHost: b\r\n']) {
      const answer = await say(`GET /health/liveliness HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`)
      expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*"type":"invalid_request_error"[\s\S]*"code":"missing_host"/)
    }
    expect(await say('GET /health/liveliness HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('for a tunnel has a clear refusal', async () => {
    const answer = await say('CONNECT /v1/models HTTP/1.1\r\nHost: gateway\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 405 [\s\S]*"code":"method_not_allowed"/)
  })

  it('with two credentials has none', async () => {
    const one = `Authorization: Bearer ${MASTER_KEY}\r\n`
    expect(await get('/v1/models', one)).toMatch(/^HTTP\/1\.1 200 /)
    expect(await get('/v1/models', `${one}Authorization: Bearer sk-other\r\n`)).toMatch(/^HTTP\/1\.1 401 /)
  })

  it('that only asks for the head gets no body', async () => {
    const heard = await say('HEAD /health/liveliness HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n')
    expect(heard).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\n\r\n$/)
    expect(heard).toMatch(/content-type: text\/plain/)
  })

  it('behind another on one connection is answered behind it', async () => {
    const first = 'GET /health/liveliness HTTP/1.1\r\nHost: gateway\r\nx-request-id: one\r\n\r\n'
    const second = first.replace(': one', ': two').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')
    expect(await say(first + second)).toMatch(/x-request-id: one[\s\S]*x-request-id: two/)
  })

  it('behind one whose body nobody has read is answered, too', async () => {
    const head = 'POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\ncontent-type: application/json\r\n'
    const unread = `${head}content-length: 200000\r\n\r\n${' '.repeat(200_000)}`
    const heard = await say(`${unread}GET /health/liveliness HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n`)
    expect(heard).toMatch(/^HTTP\/1\.1 401 [\s\S]*HTTP\/1\.1 200 /)
  })

  it('whose body never ends is answered, and then its connection ends', async () => {
    const head = 'POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\ncontent-length: 200000\r\n\r\n'
    expect(await say(`${head}some of it`)).toMatch(/^HTTP\/1\.1 401 /)
  })

  it('whose body comes in pieces is read whole', async () => {
    const { hostname, port } = new URL(gateway.url)
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    const answered = new Promise<string>((resolve) => socket.once('data', (piece) => resolve(String(piece))))
    const body = JSON.stringify({ model: 'nobody', messages: [{ role: 'user', content: 'Hello' }] })
    const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\ncontent-length: ${body.length}\r\n`
    const further = `content-type: application/json\r\nAuthorization: Bearer ${MASTER_KEY}\r\n\r\n`
    for (const piece of [head + further + body.slice(0, 9), body.slice(9, 14), body.slice(14)]) {
      socket.write(piece)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    expect(await answered).toMatch(/^HTTP\/1\.1 404 [\s\S]*nobody/)
    socket.destroy()
  })

  it.each([
    ['hello\r\n\r\n', 400],
    ['POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(200_000)}\r\n\r\n`, 431],
  ])('that cannot be read is told so in the one error shape (%#)', async (text, status) => {
    const [head = '', body = ''] = (await say(text)).split('\r\n\r\n')
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*content-type: application/json`, 'i'))
    expect(JSON.parse(body)).toMatchObject({
      error: { type: 'invalid_request_error', param: null, code: 'unreadable_request' },
    })
  })

  it('with a credential of 64 KB is read, and refused for it', async () => {
    expect(await get('/v1/models', `Authorization: Bearer sk-${'A'.repeat(65_536)}\r\n`)).toMatch(/^HTTP\/1\.1 401 /)
  })
})
