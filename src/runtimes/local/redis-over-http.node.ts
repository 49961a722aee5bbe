import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient, ErrorReply, RESP_TYPES } from '@redis/client'

export interface RedisOverHttpOptions {
  readonly redisUrl: string
  /** 0 picks a free port. */
  readonly port: number
  readonly host?: string
  /** The bearer token of clients. */
  readonly token: string
}

export interface RedisOverHttp {
  readonly url: string
  close(): Promise<void>
}

type Reply = Buffer | number | null | readonly Reply[]
type Answer = { readonly result: unknown } | { readonly error: string }

const LARGEST_BODY = 10_000_000

/** Serves the Upstash REST protocol in front of a plain Redis: one command at `/`, many at `/pipeline`, a transaction
 *  at `/multi-exec`, with base64 if the client asks for it. It is for tests, and for gateways on Workers with a Redis
 *  of their own. */
export async function startRedisOverHttp(options: RedisOverHttpOptions): Promise<RedisOverHttp> {
  const { redisUrl, port, host = '127.0.0.1', token } = options
  const client = createClient({
    url: redisUrl,
    RESP: 2,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    commandOptions: { timeout: 0 },
    socket: { reconnectStrategy: (retries) => Math.min(50 * 2 ** Math.min(retries, 10), 1000) },
  })
  client.on('error', () => {})
  await client.connect()
  const redis = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.SIMPLE_STRING]: Buffer })

  async function answer(command: readonly string[], print: (text: Buffer) => string): Promise<Answer> {
    try {
      return { result: encoded((await redis.sendCommand(command)) as Reply, print) }
    } catch (error) {
      return { error: error instanceof ErrorReply ? error.message : 'ERR redis is away' }
    }
  }

  async function transaction(commands: readonly string[][], print: (text: Buffer) => string): Promise<Answer[]> {
    const multi = redis.multi()
    for (const command of commands) multi.addCommand(command)
    const replies = (await multi.exec()) as unknown as Reply[]
    return replies.map((reply) => ({ result: encoded(reply, print) }))
  }

  const expected = sha256(`Bearer ${token}`)

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const respond = (status: number, body: unknown) => {
      const text = JSON.stringify(body)
      response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
      response.end(text)
    }
    const given = sha256(request.headers.authorization ?? '')
    if (!timingSafeEqual(given, expected)) return respond(401, { error: 'WRONGPASS invalid or missing auth token' })
    if (request.method !== 'POST') return respond(405, { error: 'ERR only POST' })
    const body = await readJson(request)
    const print =
      request.headers['upstash-encoding'] === 'base64'
        ? (text: Buffer) => text.toString('base64')
        : (text: Buffer) => text.toString('utf8')
    const path = (request.url ?? '/').split('?')[0]
    if (path === '/') {
      if (!isCommand(body)) return respond(400, { error: 'ERR expected one command as an array' })
      const one = await answer(body.map(String), print)
      return respond('error' in one ? 400 : 200, one)
    }
    if (path !== '/pipeline' && path !== '/multi-exec') return respond(404, { error: 'ERR unknown path' })
    if (!Array.isArray(body) || !body.every(isCommand))
      return respond(400, { error: 'ERR expected an array of commands' })
    const commands = body.map((command) => command.map(String))
    respond(
      200,
      await (path === '/pipeline'
        ? Promise.all(commands.map((command) => answer(command, print)))
        : transaction(commands, print)),
    )
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => {
      if (!response.headersSent) response.writeHead(400, { 'content-type': 'application/json' })
      response.end('{"error":"ERR bad request"}')
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const bound = (server.address() as AddressInfo).port

  return {
    url: `http://${host}:${bound}`,
    async close() {
      client.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest()

const isCommand = (body: unknown): body is (string | number | boolean)[] =>
  Array.isArray(body) && body.length > 0 && body.every((item) => ['string', 'number', 'boolean'].includes(typeof item))

/** Encodes a reply as Upstash does: `OK` is never in base64, numbers and null are JSON. */
function encoded(reply: Reply, print: (text: Buffer) => string): unknown {
  if (Buffer.isBuffer(reply)) return reply.equals(OK) ? 'OK' : print(reply)
  return Array.isArray(reply) ? reply.map((item) => encoded(item, print)) : reply
}
const OK = Buffer.from('OK')

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > LARGEST_BODY) throw new RangeError('too large')
    chunks.push(chunk)
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}
