import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { credentialsOf } from '../../stores/sql/adapters/connection-string.ts'
import { nodePostgresWire } from '../../stores/sql/adapters/node-postgres.node.ts'
import { pgliteWire } from '../../stores/sql/adapters/pglite.node.ts'
import type { Wire, WireResult, WireStatement } from '../../stores/sql/adapters/wire.ts'
import { SqlError } from '../../stores/sql/sql.ts'

export interface PostgresOverHttpOptions {
  /** Clients must present a connection string with the same user, password and database. */
  readonly postgresUrl: string
  /** The folder of an embedded database, which then answers instead of a server at `postgresUrl`. */
  readonly folder?: string
  /** 0 picks a free port. */
  readonly port: number
  readonly host?: string
}

export interface PostgresOverHttp {
  /** Clients post statements to this address. */
  readonly url: string
  close(): Promise<void>
}

/** Serves Neon's HTTP protocol in front of one Postgres database, for tests, for local development and for gateways
 *  that are hosted by their operators. The client's connection string only authenticates it. */
export async function startPostgresOverHttp(options: PostgresOverHttpOptions): Promise<PostgresOverHttp> {
  const { postgresUrl, folder, port, host = '127.0.0.1' } = options
  const wire = folder ? await pgliteWire({ folder }) : nodePostgresWire({ connectionString: postgresUrl })
  const server = createServer(async (request, response) => {
    const { status, body } = await answer(request, wire, postgresUrl)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve)
  })
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}/sql`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await wire.close()
    },
  }
}

interface Answer {
  readonly status: number
  readonly body: unknown
}

async function answer(request: IncomingMessage, wire: Wire, postgresUrl: string): Promise<Answer> {
  try {
    if (request.method !== 'POST' || request.url !== '/sql') return { status: 404, body: { message: 'POST /sql' } }
    authenticate(request, postgresUrl)
    const body: unknown = JSON.parse(await textOf(request))
    if (isStatement(body)) return { status: 200, body: asJson(await wire.run(asWire(body))) }
    if (!isBatch(body)) throw new SqlError('A body is {query, params} or {queries}.', '08P01')
    return { status: 200, body: { results: (await wire.runAll(body.queries.map(asWire))).map(asJson) } }
  } catch (error) {
    if (error instanceof SqlError && error.code) {
      return { status: 400, body: { message: error.message, code: error.code, severity: 'ERROR' } }
    }
    if (error instanceof SqlError) return { status: 503, body: { message: error.message } }
    return { status: 400, body: { message: 'The request cannot be read.', code: '08P01', severity: 'ERROR' } }
  }
}

function authenticate({ headers }: IncomingMessage, postgresUrl: string): void {
  const presented = headers['neon-connection-string']
  if (typeof presented !== 'string' || !sameCredentials(presented, postgresUrl)) {
    throw new SqlError('The connection string is not the one of this endpoint.', '28P01')
  }
  const unsupported = ['isolation-level', 'read-only', 'deferrable'].some((name) => `neon-batch-${name}` in headers)
  if (unsupported || headers['neon-raw-text-output'] !== 'true' || headers['neon-array-mode'] !== 'true') {
    throw new SqlError('Only raw text in array mode, at the default isolation, is supported.', '0A000')
  }
}

function sameCredentials(presented: string, own: string): boolean {
  const [a, b] = [digestOf(presented), digestOf(own)]
  return a !== undefined && b !== undefined && timingSafeEqual(a, b)
}

function digestOf(connectionString: string): Buffer | undefined {
  try {
    const { user, password, database } = credentialsOf(connectionString)
    return createHash('sha256')
      .update(JSON.stringify([user, password, database]))
      .digest()
  } catch {
    return undefined
  }
}

const LONGEST_BODY = 64 * 1024 * 1024

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > LONGEST_BODY) throw new SqlError('A request is at most 64 MB.', '54000')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

interface Statement {
  readonly query: string
  readonly params?: readonly (string | null)[]
}

function isStatement(value: unknown): value is Statement {
  if (typeof value !== 'object' || value === null || !('query' in value) || typeof value.query !== 'string')
    return false
  if (!('params' in value)) return true
  return Array.isArray(value.params) && value.params.every((param) => param === null || typeof param === 'string')
}

function isBatch(value: unknown): value is { queries: Statement[] } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'queries' in value &&
    Array.isArray(value.queries) &&
    value.queries.every(isStatement)
  )
}

function asWire({ query, params = [] }: Statement): WireStatement {
  return { text: query, values: params }
}

function asJson(result: WireResult): unknown {
  return { ...result, rowAsArray: true }
}
