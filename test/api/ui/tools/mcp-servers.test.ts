import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type FullGateway, startFullGateway } from '../../../support/full-gateway.node.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'
import { type ScriptedToolServer, startScriptedToolServer } from '../../../support/scripted-tool-server.ts'

const postgresUrl = inject('postgresUrl')
const redisUrl = inject('redisUrl')

interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
  readonly body: any
}

const TOKEN = 'canary-of-a-tool-server-4f1c'
const HEADER = 'canary-of-a-header-88ab'
const KEY = 'canary-of-an-address-c70e'

describe.skipIf(!postgresUrl || !redisUrl)('servers of tools, in two processes', () => {
  let scripted: ScriptedToolServer
  let one: FullGateway
  let other: FullGateway
  const seen: string[] = []

  beforeAll(async () => {
    scripted = await startScriptedToolServer()
    const yaml = [
      `general_settings: { database_url: '${await preparedDatabase(postgresUrl)}', redis_url: '${redisUrl}' }`,
      'gateway_settings:',
      '  mcp_servers:',
      `    - { server_key: of-file, base_url: '${scripted.url('plain')}', auth_mode: bearer, auth_token: ${TOKEN} }`,
    ].join('\n')
    ;[one, other] = await Promise.all([startFullGateway(yaml), startFullGateway(yaml)])
  })
  afterAll(async () => {
    await Promise.all([one?.close(), other?.close(), scripted?.close()])
  })

  async function ask(method: string, path: string, body?: unknown, gateway = one): Promise<Answer> {
    const response = await gateway.fetch(`/ui/api/mcp-servers${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    const text = await response.text()
    seen.push(text)
    return { status: response.status, body: JSON.parse(text) }
  }
  const list = async (query = '') =>
    (await ask('GET', query)).body.data.map(({ server_key, source }: Record<string, string>) => [server_key, source])
  /** The servers that the other process offers to bindings, which it reads from its registry. */
  const known = async (gateway: FullGateway) => {
    const text = await (await gateway.fetch('/ui/api/callable-targets?limit=200')).text()
    return ['of-file', 'stored'].filter((key) => text.includes(`"${key}"`))
  }
  const stored = () => ({
    server_key: 'stored',
    base_url: scripted.url('echo'),
    allow_private: true,
    auth_mode: 'header_map',
    auth_headers: { 'X-Api-Key': HEADER },
  })

  it('are added, listed beside those of the file, and reach the other process within 5 s', async () => {
    expect(await list()).toEqual([['of-file', 'file']])
    const made = await ask('POST', '', stored())
    expect(made).toMatchObject({
      status: 201,
      body: {
        server_key: 'stored',
        source: 'database',
        auth_headers: { 'X-Api-Key': '[secret]' },
        auth_token: null,
        enabled: true,
        request_timeout_ms: 30_000,
        version: 1,
      },
    })
    expect((await ask('GET', '/stored')).body).toEqual(made.body)
    expect(await list()).toEqual([
      ['of-file', 'file'],
      ['stored', 'database'],
    ])
    expect(await list('?limit=1&cursor=of-file')).toEqual([['stored', 'database']])
    expect(await list('?search=FILE')).toEqual([['of-file', 'file']])
    expect(await ask('POST', '', stored())).toMatchObject({ status: 409, body: { error: { param: 'server_key' } } })
    await expect.poll(() => known(other)).toEqual(['of-file', 'stored'])
  })

  it('are checked, and say what they have', async () => {
    expect(await ask('POST', '/of-file/check')).toMatchObject({
      status: 200,
      body: {
        ok: true,
        failure: null,
        protocol_version: '2025-11-25',
        server: { name: 'scripted', version: '1' },
        latency_ms: expect.any(Number),
        tools: [{ name: 'say', public_name: 'of-file__say', input_schema: { type: 'object' } }],
        left_out: [],
      },
    })
    expect((await ask('POST', '/stored/check')).body).toMatchObject({ ok: true })
    const asked = scripted.received.filter(({ path }) => path === '/echo')
    expect(asked.length).toBeGreaterThan(0)
    for (const { headers } of asked) expect(headers['x-api-key']).toBe(HEADER)
    expect(asked.at(-1)?.verb).toBe('DELETE')
    expect((await ask('POST', '/none/check')).status).toBe(404)
  })

  it.each([
    ['unauthorized', 'refused', /does not accept the gateway's credentials/],
    ['older', 'protocol', /the older transport of MCP/],
    ['html', undefined, undefined],
    ['missing', 'protocol', /has no MCP endpoint/],
    ['redirect', 'protocol', /redirects to another address/],
    ['silent-start', 'timeout', /did not answer within 300 ms/],
  ])('are checked before they are saved: %s', async (behaviour, kind, words) => {
    const draft = { ...stored(), server_key: 'draft', base_url: scripted.url(behaviour), request_timeout_ms: 300 }
    const { status, body } = await ask('POST', '/check', draft)
    expect(status).toBe(200)
    if (!kind) return expect(body).toMatchObject({ ok: true })
    expect(body).toMatchObject({
      ok: false,
      failure: { kind, message: expect.stringMatching(words as RegExp) },
      tools: [],
    })
  })

  it('keep their secrets over a change, and lose them with their address', async () => {
    const { body } = await ask('PATCH', '/stored', { request_timeout_ms: 9000, version: 1 })
    expect(body).toMatchObject({ request_timeout_ms: 9000, auth_headers: { 'X-Api-Key': '[secret]' }, version: 2 })
    expect(await ask('PATCH', '/stored', { enabled: false, version: 1 })).toMatchObject({
      status: 409,
      body: { error: { code: 'version_conflict' } },
    })
    const from = scripted.received.length
    expect((await ask('POST', '/stored/check')).body).toMatchObject({ ok: true })
    expect(scripted.received[from]?.headers['x-api-key']).toBe(HEADER)
    // A check of what is not saved yet uses the secret that is.
    const draft = { ...stored(), auth_headers: { 'X-Api-Key': '[secret]' } }
    expect((await ask('POST', '/check', draft)).body).toMatchObject({ ok: true })
    const stolen = { ...draft, base_url: 'https://elsewhere.example/mcp' }
    for (const [method, path] of [
      ['POST', '/check'],
      ['PUT', '/stored'],
    ] as const) {
      expect(await ask(method, path, stolen)).toMatchObject({
        status: 400,
        body: { error: { param: 'auth_headers.X-Api-Key' } },
      })
    }
    const cleared = await ask('PATCH', '/stored', { auth_mode: null, auth_headers: null })
    expect(cleared.body).toMatchObject({ auth_mode: 'none', auth_headers: {}, version: 3 })
    expect((await ask('PUT', '/stored', stored())).body).toMatchObject({ auth_mode: 'header_map', version: 4 })
  })

  it('keep the keys in their addresses, and are quoted without them', async () => {
    const base_url = `${scripted.url('address')}?profile=a&api_key=${KEY}`
    const shown = `${scripted.url('address')}?profile=[secret]&api_key=[secret]`
    const made = await ask('POST', '', { server_key: 'keyed', base_url, allow_private: true })
    expect(made.body).toMatchObject({ base_url: shown, version: 1 })
    const sent = { server_key: 'keyed', base_url: shown, allow_private: true, request_timeout_ms: 9000 }
    expect((await ask('PUT', '/keyed', sent)).body).toMatchObject({ base_url: shown, version: 2 })
    expect((await ask('PATCH', '/keyed', { request_timeout_ms: 8000 })).body).toMatchObject({ version: 3 })
    for (const [path, draft] of [
      ['/keyed/check', undefined],
      ['/check', sent],
    ] as const) {
      expect((await ask('POST', path, draft)).body.tools).toMatchObject([
        { description: '/address?profile=a&api_key=[secret]' },
      ])
    }
    for (const other of ['/else', 'https://elsewhere.example']) {
      const moved = { base_url: shown.replace(other.startsWith('/') ? '/address' : scripted.url('address'), other) }
      expect(await ask('PATCH', '/keyed', moved)).toMatchObject({ status: 400, body: { error: { param: 'base_url' } } })
    }
    expect((await ask('DELETE', '/keyed')).status).toBe(200)
  })

  it.each([
    [{ base_url: 'http://127.0.0.1:9/mcp', allow_private: false }, 'base_url'],
    [{ base_url: 'https://169.254.169.254/mcp', allow_private: false }, 'base_url'],
    [{ base_url: 'https://tools.internal/mcp', allow_private: false }, 'base_url'],
    [{ base_url: 'http://tools.example/mcp' }, 'base_url'],
    [{ base_url: 'ftp://tools.example' }, 'base_url'],
    [{ base_url: 'https://me:pw@tools.example' }, 'base_url'],
    [{ auth_mode: 'bearer' }, 'auth_token'],
    [{ auth_mode: 'bearer', auth_token: 'os.environ/GATEWAY_MASTER_KEY' }, 'auth_token'],
    [{ auth_mode: 'bearer', auth_token: 'a\nb' }, 'auth_token'],
    [{ server_key: 'a__b' }, 'server_key'],
    [{ server_key: 'a_' }, 'server_key'],
    [{ request_timeout_ms: 0 }, 'request_timeout_ms'],
    [{ transport: 'stdio' }, 'transport'],
    [{ colour: 'red' }, 'colour'],
  ])('are refused with the field of the mistake: %j', async (changes, param) => {
    expect(await ask('POST', '', { ...stored(), server_key: 'wrong', ...changes })).toMatchObject({
      status: 400,
      body: { error: { param } },
    })
  })

  it('of the file are changed there, and stand behind one of the database', async () => {
    for (const method of ['PATCH', 'DELETE']) {
      expect(await ask(method, '/of-file', method === 'PATCH' ? { enabled: false } : undefined)).toMatchObject({
        status: 409,
        body: { error: { code: 'kept_in_file' } },
      })
    }
    await ask('POST', '', { ...stored(), server_key: 'of-file' })
    expect((await list())[0]).toEqual(['of-file', 'database'])
    const from = scripted.received.length
    await ask('POST', '/of-file/check')
    expect(scripted.received[from]?.path).toBe('/echo')
    expect((await ask('DELETE', '/of-file')).body).toMatchObject({ source: 'database' })
    expect((await list())[0]).toEqual(['of-file', 'file'])
  })

  it('are taken away everywhere', async () => {
    expect((await ask('DELETE', '/stored')).status).toBe(200)
    expect((await ask('GET', '/stored')).status).toBe(404)
    expect((await ask('DELETE', '/stored')).status).toBe(404)
    await expect.poll(() => known(other)).toEqual(['of-file'])
  })

  it('are in the audit, and their secrets nowhere', async () => {
    const events = async () => (await one.fetch('/ui/api/audit/events?resource_type=mcp_server&limit=200')).text()
    await expect.poll(async () => (await events()).includes('"stored"')).toBe(true)
    const all = await (await one.fetch('/ui/api/audit/events?limit=200')).text()
    expect(all).toContain('request_timeout_ms')
    const { rows } = await one.sql.query<{ text: string }>({
      sql: 'SELECT settings::text || sealed AS text FROM gateway_mcp_server',
      parameters: [],
    })
    for (const text of [...seen, all, ...rows.map((row) => row.text)]) {
      expect(text).not.toContain(TOKEN)
      expect(text).not.toContain(HEADER)
      expect(text).not.toContain(KEY)
    }
  })
})
