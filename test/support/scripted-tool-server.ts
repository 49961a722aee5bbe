import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'

/** One message that arrived at the server. */
export interface ReceivedMessage {
  readonly path: string
  readonly verb: string
  readonly headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
  readonly body: any
}

export interface ScriptedToolServer {
  /** The address at which it behaves so. */
  url(behaviour: string): string
  readonly received: readonly ReceivedMessage[]
  /** Answers that are still open. */
  open(): number
  /** From now on the `sleepy` one lists its tools. */
  wake(): void
  close(): Promise<void>
}

/** Answers one message. Returns the result of the request, or nothing where it has answered itself. */
type Behaviour = (message: ReceivedMessage, response: ServerResponse) => object | undefined

const MEGABYTE = 1024 * 1024

const plainTool = (name: string, more: object = {}) => ({
  name,
  description: `The tool ${name}.`,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  ...more,
})

const initialized = (protocolVersion = '2025-11-25') => ({
  protocolVersion,
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: 'scripted', version: '1' },
})

/** The text of an event with a message. */
const event = (message: object) => `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`
const events = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' })
const nested = (levels: number): unknown =>
  levels === 0 ? {} : { type: 'object', properties: { a: nested(levels - 1) } }

/** A well-behaved server, of which `own` behaves otherwise at some methods. */
const usual =
  (own: Readonly<Record<string, Behaviour>> = {}): Behaviour =>
  (message, response) => {
    const { method, params } = message.body
    const special = own[method]
    if (special) return special(message, response)
    if (method === 'initialize') return initialized()
    if (method === 'tools/list') return { tools: [plainTool('say')] }
    if (method === 'tools/call') return { content: [{ type: 'text', text: String(params.arguments.text ?? 'said') }] }
    return {}
  }

const listing = (...tools: object[]) => usual({ 'tools/list': () => ({ tools }) })
const calling = (behaviour: Behaviour) => usual({ 'tools/call': behaviour })
const answered = (response: ServerResponse, status: number, headers: Record<string, string> = {}, body = '') => {
  response.writeHead(status, headers).end(body)
  return undefined
}

/** Writes for ever, as fast as it is read. */
function endlessly(response: ServerResponse, piece: string): undefined {
  const write = () => {
    while (!response.destroyed && response.write(piece));
    if (!response.destroyed) response.once('drain', write)
  }
  write()
}

/** Speaks only the version without sessions, in which a message tells all by itself, and its headers repeat some of it. */
const stateless: Behaviour = ({ headers, body: { id, method, params = {} } }, response) => {
  const refuse = (code: number, message: string) =>
    answered(
      response,
      400,
      { 'content-type': 'application/json' },
      JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }),
    )
  const version = params._meta?.['io.modelcontextprotocol/protocolVersion']
  if (version !== '2026-07-28') return refuse(-32022, 'Unsupported protocol version')
  if (headers['mcp-protocol-version'] !== version || headers['mcp-method'] !== method) return refuse(-32020, 'Header')
  const whole = (result: object) => ({ resultType: 'complete', ...result })
  if (method === 'server/discover') {
    const serverInfo = { name: 'stateless', version: '2' }
    return whole({ supportedVersions: [version], _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo } })
  }
  const mirrored = (name: unknown) => ({
    type: 'object',
    properties: { text: { type: 'string', 'x-mcp-header': name } },
  })
  if (method === 'tools/list') {
    const tools = [plainTool('say', { inputSchema: mirrored('Text') }), plainTool('no', { inputSchema: mirrored('') })]
    return whole({ tools, ttlMs: 0, cacheScope: 'public' })
  }
  const { text } = params.arguments
  if (text === 'wait') return undefined
  if (text === 'ask') return { resultType: 'input_required', inputRequests: {} }
  return whole({ content: [{ type: 'text', text: `${headers['mcp-name']} ${headers['mcp-param-text']}` }] })
}

const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  plain: usual(),
  address: usual({ 'tools/list': ({ path }) => ({ tools: [plainTool('say', { description: path })] }) }),
  stateless,
  old: usual({ initialize: () => initialized('2024-11-05') }),
  future: usual({ initialize: () => initialized('2099-01-01') }),
  'silent-start': usual({ initialize: () => undefined }),
  'no-version': usual({ initialize: () => ({}) }),
  'bad-session': usual({
    initialize({ body }, response) {
      const result = JSON.stringify({ jsonrpc: '2.0', id: body.id, result: initialized() })
      return answered(
        response,
        200,
        { 'content-type': 'application/json', 'mcp-session-id': 'a b'.repeat(300) },
        result,
      )
    },
  }),

  paged: usual({
    'tools/list'({ body }) {
      const page = Number(body.params.cursor ?? 0)
      return { tools: [plainTool(`tool-${page}`)], ...(page < 4 ? { nextCursor: String(page + 1) } : {}) }
    },
  }),
  'same-page': usual({ 'tools/list': () => ({ tools: [plainTool('say')], nextCursor: 'again' }) }),
  'endless-pages': usual({
    'tools/list'({ body }) {
      const page = Number(body.params.cursor ?? 0)
      return { tools: [plainTool(`tool-${page}`)], nextCursor: String(page + 1) }
    },
  }),
  'huge-list': listing(...Array.from({ length: 5000 }, (_, at) => plainTool(`tool-${at}`))),
  'huge-page': usual({
    'tools/list'(_, response) {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{"jsonrpc":"2.0","id":2,"result":{"tools":[')
      return endlessly(response, `${JSON.stringify(plainTool('say'))},`.repeat(100))
    },
  }),
  'control-names': listing(
    plainTool('fine'),
    plainTool('rung\u0007bell'),
    plainTool('turned\u202eround'),
    plainTool('hidden\u{e0041}tag'),
    plainTool('\ud800'),
    plainTool(''),
    plainTool('n'.repeat(5000)),
  ),
  'long-description': listing(
    plainTool('say', { description: `\u0000\u001b[31m${'x'.repeat(MEGABYTE)}`, title: 't'.repeat(MEGABYTE) }),
  ),
  'long-list': listing(
    ...Array.from({ length: 400 }, (_, at) => plainTool(`tool-${at}`, { description: 'x'.repeat(6000) })),
  ),
  'deep-schema': listing(plainTool('fine'), plainTool('deep', { inputSchema: nested(40) })),
  'bottomless-schema': usual({
    'tools/list'({ body }, response) {
      const schema = `${'{"type":"object","not":'.repeat(200_000)}{}${'}'.repeat(200_000)}`
      const list = `{"jsonrpc":"2.0","id":${body.id},"result":{"tools":[{"name":"deep","inputSchema":${schema}}]}}`
      return answered(response, 200, { 'content-type': 'application/json' }, list)
    },
  }),
  'large-schema': listing(
    plainTool('fine'),
    plainTool('large', { inputSchema: { type: 'object', description: 'x'.repeat(100_000) } }),
  ),
  'odd-schemas': listing(
    plainTool('fine', { inputSchema: { properties: {} } }),
    plainTool('list', { inputSchema: [] }),
    plainTool('text', { inputSchema: { type: 'string' } }),
    { name: 'none' },
    { inputSchema: {} },
    null as unknown as object,
    7 as unknown as object,
  ),
  colliding: listing(
    plainTool('a.b'),
    plainTool('a_b'),
    plainTool('a/b'),
    plainTool('a_b', { description: 'another' }),
    plainTool('only.one'),
    plainTool(`${'long'.repeat(25)}1`),
    plainTool(`${'long'.repeat(25)}2`),
  ),
  'no-tools': usual({
    'tools/list'({ body }, response) {
      const error = { jsonrpc: '2.0', id: body.id, error: { code: -32601, message: 'Method not found' } }
      return answered(response, 200, { 'content-type': 'application/json' }, JSON.stringify(error))
    },
  }),
  'odd-list': usual({ 'tools/list': () => ({ tools: 'many', nextCursor: 7 }) }),

  'endless-stream': calling((_, response) => {
    events(response).write(': first\n\n')
    const timer = setInterval(() => response.write(': still\n\n'), 20)
    response.once('close', () => clearInterval(timer))
    return undefined
  }),
  flood: calling((_, response) =>
    endlessly(events(response), event({ method: 'notifications/message', params: {} }).repeat(100)),
  ),
  'flood-of-one-event': calling((_, response) => endlessly(events(response), 'data: x\n'.repeat(1000))),
  'flood-of-json': calling((_, response) =>
    endlessly(response.writeHead(200, { 'content-type': 'application/json' }), '['.repeat(10_000)),
  ),
  bomb: calling((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
    response.end(gzipSync(Buffer.alloc(8 * MEGABYTE, 32), { level: 1 }))
    return undefined
  }),
  'foreign-id': calling((_, response) => {
    events(response).end(event({ id: 'never asked', result: { content: [] } }) + event({ id: 999_999, result: {} }))
    return undefined
  }),
  'foreign-id-json': calling((_, response) =>
    answered(response, 200, { 'content-type': 'application/json' }, '{"jsonrpc":"2.0","id":999999,"result":{}}'),
  ),
  'empty-stream': calling((_, response) => {
    events(response).end()
    return undefined
  }),
  cut: calling((_, response) => {
    events(response).write('data: {"jsonrpc":"2.0",')
    setTimeout(() => response.destroy(), 20)
    return undefined
  }),
  html: calling((_, response) => answered(response, 200, { 'content-type': 'text/html' }, '<h1>Welcome</h1>')),
  untyped: calling((_, response) => answered(response, 200, {}, '{}')),
  'no-json': calling((_, response) => answered(response, 200, { 'content-type': 'application/json' }, '{"jsonrpc"')),
  'accepted-only': calling((_, response) => answered(response, 202)),
  silent: calling(() => undefined),
  'rpc-error': calling(({ body }, response) => {
    const error = { code: -32000, message: 'The disk\u0007 is full', data: { free: 0 } }
    return answered(
      response,
      200,
      { 'content-type': 'application/json' },
      JSON.stringify({ jsonrpc: '2.0', id: body.id, error }),
    )
  }),
  'odd-content': calling(() => ({
    content: [{ type: 'text', text: 'fine' }, { type: 'hologram', depth: 3 }, 'no block', null, { text: 'untyped' }],
    structuredContent: ['no object'],
    isError: 'yes',
  })),
  echo: calling(({ headers }) => ({
    content: [{ type: 'text', text: `You sent ${headers.authorization}` }],
    structuredContent: { headers },
  })),

  asking: calling(({ body }, response) => {
    events(response).write(
      event({ id: 'p', method: 'ping' }) +
        event({ id: 'LONG', method: 'ping' }).replace('"LONG"', '9223372036854775807') +
        event({ id: 7, method: 'sampling/createMessage', params: { messages: [] } }) +
        event({ method: 'notifications/message', params: { data: 'a log line' } }) +
        event({ id: body.id + 1000, result: { content: [{ type: 'text', text: 'for somebody else' }] } }),
    )
    setTimeout(() => response.end(event({ id: body.id, result: { content: [] } })), 50)
    return undefined
  }),
  'asking-much': calling(({ body }, response) => {
    const questions = Array.from({ length: 5000 }, (_, at) => event({ id: `q${at}`, method: 'ping' })).join('')
    events(response).write(questions)
    setTimeout(() => response.end(event({ id: body.id, result: { content: [] } })), 300)
    return undefined
  }),
  batch: calling(({ body }, response) => {
    const messages = [
      { jsonrpc: '2.0', method: 'notifications/message', params: {} },
      { jsonrpc: '2.0', id: body.id, result: { content: [{ type: 'text', text: 'in a batch' }] } },
    ]
    return answered(response, 200, { 'content-type': 'application/json' }, JSON.stringify(messages))
  }),
}

/** What a whole address answers to everything. */
const STATUSES: Readonly<Record<string, readonly [number, Record<string, string>?, string?]>> = {
  unauthorized: [401, { 'www-authenticate': 'Bearer' }],
  forbidden: [403],
  missing: [404],
  'get-only': [405],
  broken: [500, { 'content-type': 'text/plain' }, 'It broke.'],
  busy: [503],
  teapot: [418],
  redirect: [307, { location: 'http://169.254.169.254/latest/meta-data' }],
}

/** A server of tools that behaves at each address as its name says. */
export async function startScriptedToolServer(): Promise<ScriptedToolServer> {
  const received: ReceivedMessage[] = []
  const opened = new Set<ServerResponse>()
  /** Sessions that the server still knows. */
  const sessions = new Set<string>()
  let serial = 0
  /** The tools of the server whose list changes. */
  let changes = 0
  let asleep = true

  const server = createServer(async (request, response) => {
    opened.add(response)
    response.once('close', () => opened.delete(response))
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const text = Buffer.concat(pieces).toString()
    const path = request.url ?? ''
    const message: ReceivedMessage = {
      path,
      verb: request.method ?? '',
      headers: request.headers,
      body: text === '' ? undefined : JSON.parse(text),
    }
    received.push(message)
    const [name = ''] = path.slice(1).split('?')
    const plain = STATUSES[name]
    if (plain) return void answered(response, ...plain)
    if (name === 'older') return void olderTransport(message, response)
    if (message.verb === 'DELETE') {
      sessions.delete(String(message.headers['mcp-session-id']))
      return void answered(response, 204)
    }
    if (message.verb !== 'POST') return void answered(response, 405)
    const { id, method } = message.body
    const session = message.headers['mcp-session-id']
    if (method === 'initialize') sessions.add(`session-${++serial}`)
    else if (name !== 'stateless' && !sessions.has(String(session))) {
      const words = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message: 'No valid session' } })
      return void answered(
        response,
        name === 'forgetful-400' ? 400 : 404,
        { 'content-type': 'application/json' },
        words,
      )
    }
    // Forgets everybody, as if it had been started again.
    if (name.startsWith('forgetful') && method === 'tools/call') sessions.clear()
    if (name === 'amnesia' && method === 'notifications/initialized') sessions.clear()
    if (id === undefined || method === undefined) return void answered(response, 202)
    const behaviour = BEHAVIOURS[name] ?? changing(name)
    const result = behaviour(message, response)
    if (!result || response.headersSent) return
    response.writeHead(200, {
      'content-type': 'application/json',
      ...(method === 'initialize' ? { 'mcp-session-id': `session-${serial}` } : {}),
    })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })

  /** A list that is not told until it is woken, and one that is another one after each call, and says so. */
  function changing(name: string): Behaviour {
    if (name === 'sleepy') {
      return usual({ 'tools/list': () => (asleep ? undefined : { tools: [plainTool('say')] }) })
    }
    if (name !== 'changing') return usual()
    return usual({
      'tools/list': () => ({ tools: [plainTool(`version-${changes}`)] }),
      'tools/call'({ body }, response) {
        changes += 1
        const changed = event({ method: 'notifications/tools/list_changed' })
        events(response).end(changed + event({ id: body.id, result: { content: [] } }))
        return undefined
      },
    })
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: (behaviour) => `http://127.0.0.1:${port}/${behaviour}`,
    received,
    open: () => opened.size,
    wake() {
      asleep = false
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** HTTP with SSE, as the protocol had it before Streamable HTTP. */
function olderTransport({ verb }: ReceivedMessage, response: ServerResponse): void {
  if (verb !== 'GET') return void answered(response, 404)
  events(response).write('event: endpoint\ndata: /messages\n\n')
}
