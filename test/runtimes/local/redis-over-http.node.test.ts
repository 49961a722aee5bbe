import { describe, expect, inject, it } from 'vitest'

const url = inject('redisHttpUrl')
const token = inject('redisHttpToken')

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return [response.status, await response.json()]
}

describe.skipIf(!url)('Redis over HTTP, the endpoint', () => {
  it('runs one command', async () => {
    expect(await post('/', ['SET', 'endpoint:one', 'é', 'PX', 60_000])).toEqual([200, { result: 'OK' }])
    expect(await post('/', ['GET', 'endpoint:one'])).toEqual([200, { result: 'é' }])
    expect(await post('/', ['GET', 'endpoint:none'])).toEqual([200, { result: null }])
    expect(await post('/', ['EVAL', 'return {1, "two", {false, 3}}', 0])).toEqual([
      200,
      { result: [1, 'two', [null, 3]] },
    ])
  })

  it('encodes text as base64 when asked, all but OK', async () => {
    const encoded = { 'upstash-encoding': 'base64' }
    expect(await post('/', ['SET', 'endpoint:two', 'ü', 'PX', 60_000], encoded)).toEqual([200, { result: 'OK' }])
    expect(await post('/', ['GET', 'endpoint:two'], encoded)).toEqual([200, { result: btoa('\xc3\xbc') }])
  })

  it('runs many, each with its own result or error, or all at once', async () => {
    const many = [
      ['SET', 'endpoint:three', 'x', 'PX', '60000'],
      ['INCR', 'endpoint:three'],
      ['GET', 'endpoint:three'],
    ]
    const [status, results] = await post('/pipeline', many)
    expect([status, results]).toEqual([
      200,
      [{ result: 'OK' }, { error: expect.stringContaining('not an integer') }, { result: 'x' }],
    ])
    expect(await post('/multi-exec', [many[0], many[2]])).toEqual([200, [{ result: 'OK' }, { result: 'x' }]])
  })

  it('says what Redis said of a bad command', async () => {
    expect(await post('/', ['NONSENSE'])).toEqual([400, { error: expect.stringContaining('unknown command') }])
  })

  it.each([['{'], [[]], [{}], ['"PING"'], [[['PING']]]])('refuses the body %j', async (body) => {
    expect(await post('/', body)).toEqual([400, { error: expect.stringContaining('ERR') }])
  })

  it('refuses a wrong token, and none', async () => {
    for (const authorization of ['', 'Bearer', `Bearer ${token}x`, token]) {
      expect(await post('/', ['PING'], { authorization })).toEqual([
        401,
        { error: expect.stringContaining('WRONGPASS') },
      ])
    }
  })
})
