import { describe, expect, it } from 'vitest'
import { secret } from '../../src/lib/secret.ts'
import { TransportError, type UpstreamRequest } from '../../src/transport/transport.ts'
import { answerOf, SCHEMES, settled, transportScene } from '../support/transport-scene.node.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

describe.each(SCHEMES)('a request over %s', (scheme) => {
  const { answering, upstream, ask } = transportScene(scheme)
  /** What arrives of a request, its lines sorted behind the first. */
  async function arrived(request: Partial<UpstreamRequest>) {
    const far = await answering(answerOf('ok'))
    await ask(far, request)
    const text = far.connections[0]?.received() ?? ''
    const [head = '', ...body] = text.split('\r\n\r\n')
    const [line, ...headers] = head.split('\r\n')
    return { line, headers, body: body.join('\r\n\r\n'), host: `host: ${far.origin.replace(/^\w+:\/\//, '')}` }
  }

  it('arrives as it was given, with where it goes, its length and one hop more', async () => {
    const { line, headers, body, host } = await arrived({
      method: 'POST',
      path: '/v1/chat?a=b%20c',
      headers: {
        authorization: secret('Bearer sk-upstream-0001'),
        'content-type': 'application/json',
        'X-Case': 'Kept',
      },
      body: '{"a":"\u00e9"}',
    })
    expect(line).toBe('POST /v1/chat?a=b%20c HTTP/1.1')
    expect(headers).toEqual(
      expect.arrayContaining([
        host,
        'authorization: Bearer sk-upstream-0001',
        'content-type: application/json',
        'X-Case: Kept',
        'x-gateway-hops: 1',
        'content-length: 10',
      ]),
    )
    expect(headers.filter((one) => !/^connection: keep-alive$/i.test(one)).length).toBe(6)
    expect(body).toBe('{"a":"\u00c3\u00a9"}')
  })

  it('goes on with the hops that it is told', async () => {
    const { headers } = await arrived({ headers: { 'x-gateway-hops': '3' } })
    expect(headers.filter((one) => one.startsWith('x-gateway-hops'))).toEqual(['x-gateway-hops: 3'])
  })

  it('has its own head, whatever it has in common with those before it', async () => {
    const far = await answering(answerOf('ok'))
    // More than are remembered, and each of them again.
    const records = Array.from({ length: 20 }, (_, at) => ({ 'x-a': String(at) }))
    const heads: string[] = []
    for (const headers of [...records, ...records])
      for (const request of [{ path: '/a' }, { path: '/b' }, { path: '/b', body: 'abc' }, { method: 'GET' as const }]) {
        const { method = 'POST', path = '/', body = '' }: Partial<UpstreamRequest> = request
        heads.push(`${method} ${path} ${headers['x-a']} ${body.length}`)
        expect((await ask(far, { ...request, headers })).body).toBe('ok')
        await settled()
      }
    const received = far.connections.map((one) => one.received()).join('')
    const arrived = received.split(/(?=(?:POST|GET) )/).map((one) => {
      const [line, value, length = '0'] = [/^\S+ \S+/, /(?<=x-a: )\d+/, /(?<=content-length: )\d+/].map(
        (part) => part.exec(one)?.[0],
      )
      return `${line} ${value} ${length}`
    })
    expect(arrived).toEqual(heads)
  })

  it.each([
    ['bytes', bytes('abc')],
    ['text', 'abc'],
    ['pieces', [bytes('a'), bytes(''), bytes('bc')]],
    ['one piece', [bytes('abc')]],
    ['part of a larger memory', bytes('xabcx').subarray(1, 4)],
  ])('has a body of %s', async (_, body) => {
    const told = await arrived({ body })
    expect(told.body).toBe('abc')
    expect(told.headers.filter((one) => /^(content-length|transfer-encoding)/.test(one))).toEqual(['content-length: 3'])
  })

  it.each([
    ['POST', undefined, ['content-length: 0']],
    ['POST', '', ['content-length: 0']],
    ['PUT', [], ['content-length: 0']],
    ['GET', undefined, []],
  ] as const)('%s without a body (%j) says so', async (method, body, lengths) => {
    const told = await arrived({ method, ...(body === undefined ? {} : { body }) })
    expect(told.body).toBe('')
    expect(told.headers.filter((one) => /^(content-length|transfer-encoding)/.test(one))).toEqual(lengths)
  })

  it('of several megabytes arrives whole', async () => {
    const pieces = Array.from({ length: 64 }, (_, at) => bytes(String(at % 10).repeat(65_537)))
    const { body } = await arrived({ body: pieces })
    expect(body.length).toBe(64 * 65_537)
    expect(body).toBe(Buffer.concat(pieces).toString())
  })

  it.each([
    ['a line break in a value', { headers: { 'x-a': 'b\r\nx-injected: 1' } }],
    ['a line feed in a value', { headers: { 'x-a': 'b\nx-injected: 1' } }],
    ['a carriage return in a value', { headers: { 'x-a': 'b\rx-injected: 1' } }],
    ['a NUL in a value', { headers: { 'x-a': 'b\0c' } }],
    ['a line break in a credential', { headers: { authorization: secret('Bearer a\r\nx-injected: 1') } }],
    ['letters beyond Latin', { headers: { 'x-a': '\u4e2d' } }],
    ['a letter that ends in a line feed', { headers: { 'x-a': 'b\u010ax-injected: 1' } }],
    ['a line break in a name', { headers: { 'x-a: b\r\nx-injected': '1' } }],
    ['a blank in a name', { headers: { 'x a': '1' } }],
    ['a colon in a name', { headers: { 'x:a': '1' } }],
    ['no name', { headers: { '': '1' } }],
    ['a line break in its path', { path: '/ HTTP/1.1\r\nx-injected: 1\r\n\r\n' }],
    ['a blank in its path', { path: '/a b' }],
    ['a letter beyond ASCII in its path', { path: '/\u010a' }],
    ['no path', { path: '' }],
    ['another length', { headers: { 'content-length': '1' }, body: 'abc' }],
    ['a length that is none', { headers: { 'content-length': '+3' }, body: 'abc' }],
    ['a coding', { headers: { 'transfer-encoding': 'chunked' }, body: 'abc' }],
    ['a coding in capitals', { headers: { 'Transfer-Encoding': 'chunked' }, body: 'abc' }],
    ['another protocol', { headers: { upgrade: 'h2c' } }],
    ['an expectation', { headers: { expect: '100-continue' } }],
  ] as readonly (readonly [string, Partial<UpstreamRequest>])[])('with %s is not sent', async (_, request) => {
    const far = await answering(answerOf('ok'))
    // A connection that is open already would be the harm of the next one, too.
    await ask(far)
    await settled()
    const refused = await ask(far, request).catch((error) => error)
    expect(refused).toBeInstanceOf(TransportError)
    expect(refused.message).not.toMatch(/injected|Bearer/)
    await settled()
    expect((await ask(far)).body).toBe('ok')
    expect(far.connections.map((one) => one.received()).join('')).not.toMatch(/injected|chunked|h2c|expect/i)
    expect(far.requests()).toBe(2)
  })

  it('that fails tells nothing of itself', async () => {
    const far = await upstream(async (connection) => {
      await connection.request()
      await connection.send('HTTP/1.1 500 sk-upstream-0001\r\nx-a: sk-upstream-0001\r\nsk-upstream-0001\r\n\r\n')
    })
    const headers = { authorization: secret('Bearer sk-upstream-0001') }
    const failed = await ask(far, { headers, path: '/?key=sk-upstream-0001', body: 'words' }).catch((error) => error)
    expect(failed).toBeInstanceOf(TransportError)
    expect(`${failed.message} ${failed.name}`).not.toMatch(/sk-upstream|words/)
  })
})
