import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FullGateway, startFullGateway } from '../../support/full-gateway.node.ts'
import { MASTER_KEY } from '../../support/gateway.ts'
import { call, post, type RpcAnswer, request } from '../../support/mcp-client.ts'
import { type NamedTools, startNamedTools } from '../../support/named-tools.node.ts'

const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']

describe('POST /mcp', () => {
  let far: NamedTools
  let gateway: FullGateway
  beforeAll(async () => {
    far = await startNamedTools(Array.from({ length: 300 }, (_, index) => `more-${index}`))
    gateway = await startFullGateway(
      [
        'general_settings: { cors_origins: ["https://app.example.com"], email_base_url: "https://gateway.example.com" }',
        'gateway_settings:',
        '  mcp_servers:',
        `    - { server_key: far, base_url: "${far.url}" }`,
        '    - { server_key: away, base_url: "http://127.0.0.1:9/mcp" }',
        `    - { server_key: off, base_url: "${far.url}", enabled: false }`,
      ].join('\n'),
    )
  })
  afterAll(async () => {
    await gateway?.close()
    await far?.close()
  })

  const key = { authorization: `Bearer ${MASTER_KEY}` }
  const send = (body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<RpcAnswer> =>
    post(`${gateway.url}/mcp`, body, { ...key, ...headers })
  const initialize = (protocolVersion: unknown) =>
    send(request(0, 'initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'a', version: '1' } }))

  describe('initialize', () => {
    it.each(VERSIONS)('%s is spoken', async (version) => {
      const { status, body, headers } = await initialize(version)
      expect([status, body.result.protocolVersion]).toEqual([200, version])
      expect(body).toMatchObject({ jsonrpc: '2.0', id: 0, result: { serverInfo: { name: 'model-gateway' } } })
      expect(body.result.capabilities).toEqual({ tools: {} })
      expect(headers.get('content-type')).toBe('application/json')
      expect(headers.get('mcp-session-id')).toMatch(/^mcp_[0-9a-z]+$/)
    })

    it('an unknown version is answered with the newest, and none with an error', async () => {
      expect((await initialize('2031-01-01')).body.result.protocolVersion).toBe(VERSIONS[0])
      expect((await initialize(undefined)).body.error.code).toBe(-32602)
    })
  })

  describe('a request that tells its version itself, as in 2026-07-28', () => {
    const VERSION = '2026-07-28'
    const meta = (version = VERSION) => ({
      'io.modelcontextprotocol/protocolVersion': version,
      'io.modelcontextprotocol/clientCapabilities': {},
    })
    const whole = (method: string, params: object = {}, headers: Record<string, string> = {}, _meta: object = meta()) =>
      send(request(7, method, { ...params, _meta }), {
        'mcp-protocol-version': VERSION,
        'mcp-method': method,
        ...headers,
      })
    const name = 'far__echo'
    const echo = (headers?: Record<string, string>) => {
      const repeated = { 'mcp-name': name, 'mcp-param-words': 'hello' }
      return whole('tools/call', { name, arguments: { words: 'hello' } }, { ...repeated, ...headers })
    }

    it('is answered without a session', async () => {
      const { status, headers, body } = await whole('server/discover')
      expect([status, headers.get('mcp-session-id')]).toEqual([200, null])
      expect(body.result).toMatchObject({
        resultType: 'complete',
        supportedVersions: [VERSION, ...VERSIONS],
        capabilities: { tools: {} },
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'model-gateway' } },
      })
      const list = (await whole('tools/list')).body.result
      // One server is away.
      expect(list).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private' })
      const encoded = `=?base64?${Buffer.from(name).toString('base64')}?=`
      for (const told of [name, encoded]) {
        expect((await echo({ 'mcp-name': told })).body.result).toMatchObject({ resultType: 'complete', isError: false })
      }
    })

    it('is told of output that is no object, which older clients refuse', async () => {
      const listed = ({ body }: RpcAnswer) =>
        body.result.tools.find((tool: { name: string }) => tool.name === 'far__counts').outputSchema
      expect(listed(await whole('tools/list'))).toEqual({ type: 'integer' })
      expect(listed(await send(request(1, 'tools/list')))).toBeUndefined()
      const counts = { name: 'far__counts' }
      const { result } = (await whole('tools/call', counts, { 'mcp-name': counts.name })).body
      expect(result).toMatchObject({ content: [], structuredContent: 0 })
      const older = (await send(request(1, 'tools/call', counts))).body.result
      expect(older).toEqual({ content: [{ type: 'text', text: '0' }], isError: false })
    })

    it.each([
      ['no version', () => whole('tools/list', {}, {}, {}), 400, -32602],
      [
        'no capabilities',
        () => whole('tools/list', {}, {}, { ...meta(), [Object.keys(meta())[1] ?? '']: 1 }),
        400,
        -32602,
      ],
      ['an unknown version', () => whole('ping', {}, { 'mcp-protocol-version': 'v9' }, meta('v9')), 400, -32022],
      ['another version in the header', () => whole('tools/list', {}, {}, meta('v9')), 400, -32020],
      ['another method in the header', () => whole('tools/list', {}, { 'mcp-method': 'Tools/list' }), 400, -32020],
      ['another tool in the header', () => echo({ 'mcp-name': 'far__image' }), 400, -32020],
      ['a header that cannot be read', () => echo({ 'mcp-name': '=?base64?&?=' }), 400, -32020],
      ['another argument in the header', () => echo({ 'mcp-param-words': 'Hello' }), 400, -32020],
      ['a method of older versions', () => whole('initialize', { protocolVersion: VERSION }), 404, -32601],
    ])('%s: refused', async (_, asked, status, code) => {
      const answer = await asked()
      expect([answer.status, answer.body.id, answer.body.error.code]).toEqual([status, 7, code])
      if (code === -32022) {
        expect(answer.body.error.data).toMatchObject({ supported: [VERSION, ...VERSIONS], requested: 'v9' })
      }
    })
  })

  it('an id beyond the precision of a double comes back as it was sent', async () => {
    const answer = await fetch(`${gateway.url}/mcp`, {
      method: 'POST',
      headers: { ...key, 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}',
    })
    expect(await answer.text()).toBe('{"jsonrpc":"2.0","id":9007199254740993,"result":{}}')
  })

  it('ping, notifications and answers', async () => {
    expect((await send(request('a', 'ping'))).body).toEqual({ jsonrpc: '2.0', id: 'a', result: {} })
    for (const body of [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } },
      { jsonrpc: '2.0', method: 'notifications/of-a-later-version' },
      { jsonrpc: '2.0', id: 3, result: {} },
      { jsonrpc: '2.0', id: 3, error: { code: -32601, message: 'no' } },
    ]) {
      expect(await send(body)).toMatchObject({ status: 202, body: undefined })
    }
  })

  it('a session that no other process knows is none that is missed', async () => {
    expect((await send(request(1, 'ping'), { 'mcp-session-id': 'of-another-process' })).body.result).toEqual({})
  })

  describe('tools/list', () => {
    it('every tool by its public name with all that its server says of it, in pages', async () => {
      const names: string[] = []
      let first: RpcAnswer | undefined
      for (let cursor: string | undefined, turn = 0; turn < 5; turn++) {
        const answer = await send(request(turn, 'tools/list', cursor === undefined ? undefined : { cursor }))
        first ??= answer
        names.push(...answer.body.result.tools.map(({ name }: { name: string }) => name))
        cursor = answer.body.result.nextCursor
        if (cursor === undefined) break
      }
      expect(names).toHaveLength(308)
      expect(new Set(names).size).toBe(308)
      expect(names.every((name) => name.startsWith('far__'))).toBe(true)
      expect(first?.body.result.tools).toHaveLength(250)
      expect(first?.body.result.tools).toContainEqual({
        name: 'far__echo',
        title: 'Echo',
        description: 'Says what it was asked.',
        inputSchema: { type: 'object', properties: { words: { type: 'string', 'x-mcp-header': 'Words' } } },
        outputSchema: { type: 'object', properties: { given: { type: 'object' } } },
        annotations: { readOnlyHint: true },
        icons: [{ src: 'https://icons.test/echo.png', mimeType: 'image/png', sizes: ['48x48'] }],
        execution: { taskSupport: 'optional' },
        _meta: { 'far.test/group': { order: 7 } },
      })
    })

    it('a server that is away hides only its own, and is named', async () => {
      const { result } = (await send(request(1, 'tools/list'))).body
      expect(result._meta).toEqual({ 'gateway/unavailable_servers': ['away'] })
      expect(result.tools.length).toBeGreaterThan(0)
    })

    it.each([{ cursor: 5 }, { cursor: 'no such/cursor' }, { cursor: 'x'.repeat(65) }, { cursor: {} }])(
      '%j is no cursor',
      async (params) => {
        expect((await send(request(1, 'tools/list', params))).body.error.code).toBe(-32602)
      },
    )
  })

  describe('tools/call', () => {
    it('arguments go through, and so does the result', async () => {
      const args = {
        words: 'Grüße 🌍',
        deep: { list: [1, 2.5, null, true] },
        ['__proto__']: { own: 1 },
        constructor: 'x',
      }
      const given = JSON.parse(`{"words":"a","__proto__":{"own":1},"list":[1,2.5,null]}`)
      const { status, body } = await send(call(5, 'far__echo', args))
      expect([status, body.id]).toEqual([200, 5])
      expect(body.result).toEqual({
        content: [{ type: 'text', text: JSON.stringify(args) }],
        structuredContent: { given: args },
        _meta: { 'far.test/took': 5 },
        isError: false,
      })
      const again = await send(
        `{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"far__echo","arguments":${JSON.stringify(given)}}}`,
      )
      expect(again.body.result.content[0].text).toBe(JSON.stringify(given))
      expect((await send(request(7, 'tools/call', { name: 'far__echo' }))).body.result.content[0].text).toBe('{}')
    })

    it('images go through', async () => {
      const { body } = await send(call(1, 'far__image'))
      expect(body.result.content).toMatchObject([{ type: 'image', mimeType: 'image/png', data: expect.any(String) }])
    })

    it.each([
      ['far__fails', 'It cannot be done.'],
      ['far__refuses', "The tool server 'far' answered with error -32000: out of order."],
      ['far__rejects', "The tool server 'far' answered with error -32602: words: is missing."],
      ['away__any', "The tool server 'away' "],
    ])('what goes wrong in %s is its result, in words', async (name, words) => {
      const { status, body } = await send(call(1, name))
      expect([status, body.result.isError]).toEqual([200, true])
      expect(body.result.content[0].text).toContain(words)
    })

    it.each([
      'far__nothing',
      'far__',
      'far',
      '__echo',
      'nobody__echo',
      'off__echo',
      'FAR__echo',
      'echo',
      '',
      '__proto__',
      'constructor__constructor',
      `far__${'x'.repeat(100_000)}`,
    ])('there is no tool %.60s', async (name) => {
      const { status, body } = await send(call(1, name))
      expect([status, body.error.code]).toEqual([200, -32602])
      expect(body.error.message).toBe(`Unknown tool: ${name.slice(0, 64)}`)
    })

    it.each([
      [{}, 'name'],
      [{ name: 5 }, 'name'],
      [{ name: 'far__echo', arguments: [] }, 'arguments'],
      [{ name: 'far__echo', arguments: 'x' }, 'arguments'],
      [{ name: 'far__echo', arguments: null }, 'arguments'],
    ])('%j is refused for its %s', async (params, field) => {
      const { body } = await send(request(1, 'tools/call', params))
      expect(body.error).toEqual({
        code: -32602,
        message: expect.stringContaining(`${field}:`),
        data: { type: 'invalid_request_error', code: 'invalid_request', param: field, request_id: expect.any(String) },
      })
    })
  })

  describe('progress', () => {
    const stepping = call('s', 'far__steps', {}, { _meta: { progressToken: 'mine' } })

    it('is told in a stream to who asks for it and takes one', async () => {
      const { headers, body } = await send(stepping)
      expect(headers.get('content-type')).toContain('text/event-stream')
      const told = (progress: number) => ({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: 'mine', progress, total: 3, message: `Step ${progress}` },
      })
      expect(body).toEqual([
        told(1),
        told(2),
        told(3),
        { jsonrpc: '2.0', id: 's', result: { content: [{ type: 'text', text: 'Three steps.' }], isError: false } },
      ])
    })

    it('is not told to who takes no stream, nor to who does not ask', async () => {
      for (const [body, accept] of [
        [stepping, 'application/json'],
        [stepping, '*/*'],
        [call('s', 'far__steps'), 'application/json, text/event-stream'],
        [call('s', 'far__steps', {}, { _meta: { progressToken: {} } }), 'application/json, text/event-stream'],
      ] as const) {
        const answer = await send(body, { accept })
        expect(answer.headers.get('content-type')).toBe('application/json')
        expect(answer.body.result.content[0].text).toBe('Three steps.')
      }
    })

    it('an error is told in the stream too', async () => {
      const { body } = await send(call(1, 'far__nothing', {}, { _meta: { progressToken: 0 } }))
      expect(body).toMatchObject([{ id: 1, error: { code: -32602 } }])
    })
  })

  describe('lists of messages', () => {
    const v = (version: string) => ({ 'mcp-protocol-version': version })

    it('in 2025-03-26, and where no version is named', async () => {
      const messages = [
        request(1, 'ping'),
        { jsonrpc: '2.0', method: 'notifications/initialized' },
        call(2, 'far__echo', { words: 'x' }),
        { jsonrpc: '2.0', id: 9, result: {} },
        request(3, 'initialize', { protocolVersion: '2025-03-26' }),
        request(4, 'constructor'),
        { id: 5, method: 'ping' },
        7,
      ]
      for (const headers of [{}, v('2025-03-26')]) {
        const { status, body } = await send(messages, headers)
        expect(status).toBe(200)
        const byId = new Map(body.map((one: { id: unknown }) => [one.id, one]))
        expect([...byId.keys()].map(String).sort()).toEqual(['1', '2', '3', '4', '5', 'null'])
        expect(byId.get(2)).toMatchObject({ result: { structuredContent: { given: { words: 'x' } } } })
        expect(byId.get(3)).toMatchObject({ error: { code: -32600 } })
        expect(byId.get(4)).toMatchObject({ error: { code: -32601 } })
        expect(byId.get(5)).toMatchObject({ error: { code: -32600 } })
      }
      const told = [{ jsonrpc: '2.0', method: 'notifications/initialized' }]
      expect((await send(told)).status).toBe(202)
      expect((await send(messages, { accept: 'text/event-stream' })).body[0]).toHaveLength(6)
    })

    it.each(['2025-06-18', '2025-11-25', '2024-11-05'])('not in %s', async (version) => {
      const { status, body } = await send([request(1, 'ping')], v(version))
      expect([status, body.error.code, body.id]).toEqual([400, -32600, null])
    })

    it('neither empty nor endless', async () => {
      for (const body of [[], Array.from({ length: 51 }, (_, index) => request(index, 'ping'))]) {
        const answer = await send(body)
        expect([answer.status, answer.body.error.code]).toEqual([400, -32600])
      }
      expect((await send(Array.from({ length: 50 }, (_, index) => request(index, 'ping')))).body).toHaveLength(50)
    })
  })

  describe('refusals, in the words of JSON-RPC', () => {
    it('without a key, and with a wrong one: 401 with a challenge', async () => {
      for (const headers of [
        { authorization: '' },
        { authorization: 'Bearer sk-wrong' },
        { authorization: 'Basic x' },
      ]) {
        const answer = await send(request(1, 'ping'), headers)
        expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
        expect(answer.body).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32000 } })
      }
    })

    it.each(['GET', 'DELETE', 'PUT', 'PATCH'])('%s: 405 with what is allowed', async (method) => {
      const response = await gateway.fetch('/mcp', { method, headers: { accept: 'text/event-stream' } })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
      expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32000 } })
    })

    it.each<[string, unknown, number, number]>([
      ['no JSON', '{', 400, -32700],
      ['no JSON at all', '', 400, -32700],
      ['no object', '5', 400, -32600],
      ['null', 'null', 400, -32600],
      ['no version', { id: 1, method: 'ping' }, 400, -32600],
      ['another version', { jsonrpc: '1.0', id: 1, method: 'ping' }, 400, -32600],
      ['no method', { jsonrpc: '2.0', id: 1 }, 400, -32600],
      ['a method that is no text', { jsonrpc: '2.0', id: 1, method: 5 }, 400, -32600],
      ['an id that is null', { jsonrpc: '2.0', id: null, method: 'ping' }, 400, -32600],
      ['an id that is an object', { jsonrpc: '2.0', id: {}, method: 'ping' }, 400, -32600],
      ['an id that is a fraction', { jsonrpc: '2.0', id: 1.5, method: 'ping' }, 400, -32600],
      ['parameters that are a list', { jsonrpc: '2.0', id: 1, method: 'ping', params: [] }, 400, -32600],
      ['too deep', `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'['.repeat(9000)}`, 400, -32600],
    ])('%s', async (_, body, status, code) => {
      const answer = await send(body)
      expect([answer.status, answer.body.error.code]).toEqual([status, code])
      expect(answer.body.jsonrpc).toBe('2.0')
    })

    it.each([
      'constructor',
      '__proto__',
      'toString',
      'hasOwnProperty',
      'resources/list',
      'prompts/list',
      'x'.repeat(9999),
    ])('there is no method %.40s', async (method) => {
      const { status, body } = await send(request(1, method))
      expect([status, body.error.code, body.id]).toEqual([200, -32601, 1])
      expect(body.error.message.length).toBeLessThan(200)
    })

    it('another content type, a compressed body, a body that is too long', async () => {
      const status = async (headers: Record<string, string>, body: unknown = request(1, 'ping')) => {
        const answer = await send(body, headers)
        expect(answer.body.error.code).toBe(-32000)
        return answer.status
      }
      expect(await status({ 'content-type': 'text/plain' })).toBe(415)
      expect(await status({ 'content-encoding': 'gzip' })).toBe(415)
      expect(await status({}, request(1, 'ping', { words: 'x'.repeat(33 * 1024 * 1024) }))).toBe(413)
    })

    it('a version that is not spoken', async () => {
      for (const version of ['1999-01-01', '2025-11-25, 2025-06-18', 'x']) {
        const answer = await send(request(1, 'ping'), { 'mcp-protocol-version': version })
        expect([answer.status, answer.body.error.code]).toEqual([400, -32600])
      }
      for (const version of VERSIONS) {
        expect((await send(request(1, 'ping'), { 'mcp-protocol-version': version })).status).toBe(200)
      }
    })

    it.each([
      ['*/*', 200, 'application/json'],
      ['application/*', 200, 'application/json'],
      ['application/json;q=0.5, text/event-stream', 200, 'application/json'],
      ['text/event-stream', 200, 'text/event-stream; charset=utf-8'],
      ['text/event-stream, application/json;q=0', 200, 'text/event-stream; charset=utf-8'],
      ['text/html', 406, 'application/json'],
      ['application/json;q=0', 406, 'application/json'],
      ['application/json;q=0, */*', 406, 'application/json'],
    ])('who accepts %s', async (accept, status, type) => {
      const answer = await send(request(1, 'ping'), { accept })
      expect([answer.status, answer.headers.get('content-type')]).toEqual([status, type])
    })
  })

  describe('pages of', () => {
    const own = () => new URL(gateway.url).host
    it.each<[string, () => Record<string, string>, number]>([
      ['this gateway, over loopback', () => ({ origin: gateway.url }), 200],
      ['its public address', () => ({ origin: 'https://gateway.example.com' }), 200],
      ['an origin that is allowed', () => ({ origin: 'https://app.example.com' }), 200],
      ['another origin', () => ({ origin: 'https://evil.example.com' }), 403],
      ['another port', () => ({ origin: 'http://127.0.0.1:1' }), 403],
      ['a sandbox', () => ({ origin: 'null' }), 403],
      ['no origin', () => ({ origin: 'javascript:alert(1)' }), 403],
      [
        'a name that was made to lead here',
        () => ({ origin: 'http://evil.example.com', host: 'evil.example.com' }),
        403,
      ],
      [
        'the same behind a forged proxy',
        () => ({ origin: 'http://evil.example.com', host: 'evil.example.com', 'x-forwarded-proto': 'https' }),
        403,
      ],
      [
        'localhost',
        () => ({ origin: `http://localhost:${own().split(':')[1]}`, host: `localhost:${own().split(':')[1]}` }),
        200,
      ],
    ])('%s', async (_, headers, status) => {
      expect(await rawStatus(headers())).toBe(status)
    })

    /** `fetch` sends no Host of the caller's. */
    async function rawStatus(headers: Record<string, string>): Promise<number> {
      const { request: ask } = await import('node:http')
      const body = JSON.stringify(request(1, 'ping'))
      return new Promise((resolve, reject) => {
        const sent = ask(
          `${gateway.url}/mcp`,
          { method: 'POST', headers: { ...key, 'content-type': 'application/json', ...headers } },
          (response) => {
            response.resume()
            resolve(response.statusCode ?? 0)
          },
        )
        sent.on('error', reject).end(body)
      })
    }

    it('may ask beforehand, as for /v1', async () => {
      const response = await gateway.fetch('/mcp', {
        method: 'OPTIONS',
        headers: {
          origin: 'https://app.example.com',
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization,content-type,mcp-protocol-version',
        },
      })
      expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example.com')
      expect(response.headers.get('access-control-allow-headers')).toContain('mcp-protocol-version')
      const { headers } = await send(request(1, 'ping'), { origin: 'https://app.example.com' })
      expect(headers.get('access-control-allow-origin')).toBe('https://app.example.com')
      expect([headers.get('vary'), headers.get('content-length')]).toEqual(['Origin', '36'])
    })
  })
})
