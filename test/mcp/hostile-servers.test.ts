import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ToolServer } from '../../src/mcp/tool-server.ts'
import type { ToolFailureKind, ToolServers } from '../../src/mcp/tool-servers.ts'
import { fetchTransport } from '../../src/transport/fetch.ts'
import { undiciTransport } from '../../src/transport/undici.node.ts'
import { type ScriptedToolServer, startScriptedToolServer } from '../support/scripted-tool-server.ts'
import { askingToolServers, patient, toolServer } from '../support/tool-servers.ts'

let scripted: ScriptedToolServer
let at: (behaviour: string, changes?: Partial<ToolServer>) => ToolServer
beforeAll(async () => {
  scripted = await startScriptedToolServer()
  at = (behaviour, changes) => toolServer(scripted.url(behaviour), { key: behaviour, timeoutMs: 1500, ...changes })
})
afterAll(() => scripted.close())
const undici = undiciTransport()
afterAll(() => undici.close())

/** What a call of a tool ends with at each server. */
const CALLS: readonly (readonly [string, ToolFailureKind, RegExp])[] = [
  ['endless-stream', 'timeout', /did not answer within 1500 ms/],
  ['silent', 'timeout', /did not answer within 1500 ms/],
  ['flood', 'too_large', /sent more than 10000 events/],
  ['flood-of-one-event', 'too_large', /more than 4194304 bytes/],
  ['flood-of-json', 'too_large', /more than 4194304 bytes/],
  ['foreign-id', 'protocol', /ended its events without an answer/],
  ['foreign-id-json', 'protocol', /JSON that is no reply/],
  ['empty-stream', 'protocol', /ended its events without an answer/],
  ['cut', 'unreachable', /broke its answer off/],
  ['html', 'protocol', /answered with text\/html instead of JSON or events/],
  ['untyped', 'protocol', /answered with no content type/],
  ['no-json', 'protocol', /something other than JSON/],
  ['accepted-only', 'protocol', /accepted a request and answered nothing \(202\)/],
  ['rpc-error', 'failed', /answered with error -32000: The disk is full\.$/],
  ['amnesia', 'protocol', /forgets its sessions at once/],
  ['future', 'protocol', /speaks version 2099-01-01 of MCP/],
  ['no-version', 'protocol', /speaks no version of MCP/],
  ['bad-session', 'protocol', /gave its session an invalid id/],
  ['unauthorized', 'refused', /does not accept the gateway's credentials \(401\)/],
  ['forbidden', 'refused', /does not accept the gateway's credentials \(403\)/],
  ['missing', 'protocol', /has no MCP endpoint at its address \(404\)/],
  ['get-only', 'protocol', /takes no POST at its address \(405\)/],
  ['broken', 'unreachable', /out of order: it answered with status 500/],
  ['busy', 'unreachable', /out of order: it answered with status 503/],
  ['teapot', 'protocol', /refused a message of MCP with status 418/],
  ['redirect', 'protocol', /redirects to another address \(307\), which is not followed/],
]

describe.each([
  ["Node's transport", undici, {}],
  ['fetch, where a promise belongs to its request', fetchTransport(), { defer: () => {} }],
])('a server that misbehaves, asked by %s', (_transportName, transport, options) => {
  let servers: ToolServers
  beforeAll(() => {
    servers = askingToolServers(transport, options)
  })
  const call = (server: ToolServer) => servers.call(server, 'say', { text: 'hello' }, { signal: patient })
  const list = (server: ToolServer) => servers.check(server, { signal: patient })
  const names = async (server: ToolServer) => (await list(server)).tools.map(({ name }) => name)
  const leftOut = async (server: ToolServer) =>
    Object.fromEntries((await list(server)).leftOut.map(({ name, reason }) => [name.slice(0, 20), reason]))

  it.each(CALLS)('fails at a call as %s: %s', async (behaviour, kind, words) => {
    const timeoutMs = kind === 'too_large' ? 10_000 : 1500
    const failure = await call(at(behaviour, { timeoutMs })).catch((error) => error)
    expect(failure).toMatchObject({ name: 'ToolFailure', kind, message: expect.stringMatching(words) })
    expect(failure.message).toContain(`'${behaviour}'`)
  })

  it('fails at a call with a packed answer, which is not unpacked beyond what may be read', async () => {
    await expect(call(at('bomb'))).rejects.toMatchObject({ name: 'ToolFailure', kind: 'too_large' })
  })

  it('fails where nobody listens', async () => {
    const nobody = toolServer('http://127.0.0.1:1/mcp', { key: 'nobody' })
    await expect(call(nobody)).rejects.toMatchObject({
      kind: 'unreachable',
      message: "The tool server 'nobody' cannot be reached.",
    })
  })

  it.each(['http://127.0.0.1:9/mcp', 'https://[::1]/mcp', 'http://169.254.169.254/mcp', 'https://tools.internal/mcp'])(
    'is not asked at a private address without leave: %s',
    async (url) => {
      await expect(call(toolServer(url, { allowPrivate: false }))).rejects.toMatchObject({
        kind: 'refused',
        message: expect.stringContaining('an address in a private network'),
      })
    },
  )

  it('tells nobody the credential that it was sent', async () => {
    const { content, structuredContent } = await call(at('echo'))
    expect(content).toEqual([{ type: 'text', text: 'You sent Bearer [secret]' }])
    expect(JSON.stringify(structuredContent)).not.toContain('a-token-of-the-tests')
  })

  it('gets its odd content as far as it is content', async () => {
    expect(await call(at('odd-content'))).toEqual({
      content: [
        { type: 'text', text: 'fine' },
        { type: 'hologram', depth: 3 },
      ],
      structuredContent: ['no object'],
      isError: false,
    })
  })

  it('is answered at a ping, and refused all else, as often as is reasonable', async () => {
    await call(at('asking'))
    const answers = () =>
      scripted.received.filter(({ path, body }) => path === '/asking' && body && !('method' in body))
    await expect.poll(() => answers().length).toBeGreaterThanOrEqual(3)
    const byId = new Map(answers().map(({ body }) => [body.id, body]))
    expect(byId.get('p')).toMatchObject({ result: {} })
    expect(byId.get(2 ** 63), 'by its id of 64 bits').toMatchObject({ result: {} })
    expect(byId.get(7)).toMatchObject({ error: { code: -32601 } })
    await call(at('asking-much', { timeoutMs: 10_000 }))
    const many = scripted.received.filter(({ path, body }) => path === '/asking-much' && body && !('method' in body))
    expect(many.length).toBeLessThanOrEqual(2 * 100)
  })

  it('may answer with a list of messages, and in an older version', async () => {
    expect(await call(at('batch'))).toMatchObject({ content: [{ text: 'in a batch' }] })
    expect(await call(at('old'))).toMatchObject({ content: [{ text: 'hello' }] })
    const versions = scripted.received.filter(({ path, body }) => path === '/old' && body?.method === 'tools/call')
    expect(versions.at(-1)?.headers['mcp-protocol-version']).toBe('2024-11-05')
  })

  it('lists its pages, each once, and no more than there can be', async () => {
    expect(await names(at('paged'))).toEqual([0, 1, 2, 3, 4].map((page) => `tool-${page}`))
    expect(await names(at('same-page'))).toEqual(['say'])
    expect(await names(at('endless-pages', { timeoutMs: 10_000 }))).toHaveLength(50)
  })

  it('lists as many tools as are kept, and as much of each', async () => {
    const huge = await list(at('huge-list'))
    expect(huge.tools).toHaveLength(500)
    expect(huge.leftOut).toEqual([{ name: 'tool-500', reason: 'the server lists more than 500 tools' }])
    await expect(list(at('huge-page'))).rejects.toMatchObject({ kind: 'too_large' })
    const [tool] = (await list(at('long-description'))).tools
    expect(tool?.description).toMatch(/^\[31mx{1000}/)
    expect(tool?.description.length).toBeLessThanOrEqual(8001)
    expect(tool?.title?.length).toBeLessThanOrEqual(201)
    const long = await list(at('long-list'))
    expect(JSON.stringify(long.tools).length).toBeLessThan(1.2 * 1024 * 1024)
    expect(long.leftOut[0]?.reason).toBe('the list is too long')
  })

  it('lists no tool with a name or a schema that could do harm', async () => {
    expect(await names(at('control-names'))).toEqual(['fine'])
    expect(await leftOut(at('control-names'))).toMatchObject({
      rungbell: 'its name has control characters',
      turnedround: 'its name has control characters',
      hiddentag: 'its name has control characters',
      [`${'n'.repeat(20)}`]: 'its name has not 1 to 128 characters',
    })
    expect(await names(at('deep-schema'))).toEqual(['fine'])
    expect(await leftOut(at('large-schema'))).toEqual({ large: 'its input schema is too large or too deep' })
    await expect(list(at('bottomless-schema'))).rejects.toMatchObject({ kind: 'too_large' })
    const { tools, leftOut: odd } = await list(at('odd-schemas'))
    expect(tools.map(({ name, inputSchema }) => [name, inputSchema])).toEqual([
      ['fine', { type: 'object', properties: {} }],
    ])
    expect(odd).toHaveLength(6)
    expect(await names(at('no-tools'))).toEqual([])
    expect(await names(at('odd-list'))).toEqual([])
  })

  it('has no two tools under one name', async () => {
    const { tools } = await list(at('colliding', { key: 'k' }))
    const byName = Object.fromEntries(tools.map(({ name, publicName }) => [name, publicName]))
    expect(byName).toMatchObject({
      a_b: 'k__a_b',
      'a.b': expect.stringMatching(/^k__a_b_[0-9a-f]{8}$/),
      'a/b': expect.stringMatching(/^k__a_b_[0-9a-f]{8}$/),
      'only.one': 'k__only_one',
    })
    const publicNames = tools.map(({ publicName }) => publicName)
    expect(new Set(publicNames).size).toBe(6)
    for (const name of publicNames) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
  })

  it('is told when it speaks the transport of before', async () => {
    await expect(list(at('older'))).rejects.toMatchObject({
      kind: 'protocol',
      message: expect.stringContaining('speaks the older transport of MCP'),
    })
  })

  it('keeps no answer open', async () => {
    await expect.poll(() => scripted.open()).toBe(0)
  })
})
