import type { NeonDbError, NeonQueryFunction } from '@neondatabase/serverless'
import { type Sql, SqlError } from '../sql.ts'
import { credentialsOf } from './connection-string.ts'
import { noAnswer, refused, sqlOver, type Wire, type WireStatement } from './wire.ts'

export interface NeonOptions {
  readonly connectionString: string
  /** The endpoint; by default Neon's own for the host of the connection string. */
  readonly fetchEndpoint?: string
  readonly timeoutMs?: number
}

/** Postgres over Neon's HTTP protocol: one request for each query or batch, and no open connection. */
export function neonSql({ connectionString, fetchEndpoint, timeoutMs = 10_000 }: NeonOptions): Sql {
  credentialsOf(connectionString)
  const { hostname, port } = new URL(connectionString)
  if (fetchEndpoint !== undefined) endpoints.set(`${hostname}:${port}`, fetchEndpoint)
  return sqlOver(neonWire(connectionString, timeoutMs))
}

type Client = NeonQueryFunction<true, true>
const RAW = { arrayMode: true, fullResults: true, types: { getTypeParser: () => (text: string) => text } } as const

const endpoints = new Map<string, string>()
let isConfigured = false

/** Loads the client with the first statement: it contains a driver for sockets, which would be a sixth of the start of
 *  a worker. */
async function clientOf(connectionString: string): Promise<Client> {
  const { neon, neonConfig } = await import('@neondatabase/serverless')
  if (!isConfigured) {
    isConfigured = true
    // The client has one endpoint for the whole process. A lookup by host and port allows several databases.
    const own = neonConfig.fetchEndpoint
    neonConfig.fetchEndpoint = (host, port, options) =>
      endpoints.get(`${host}:${port}`) ?? (typeof own === 'function' ? own(host, port, options) : own)
  }
  return neon(connectionString, RAW)
}

function neonWire(connectionString: string, timeoutMs: number): Wire {
  let known: Client | undefined
  const run = async <Answer>(work: (client: Client) => Promise<Answer>): Promise<Answer> => {
    try {
      known ??= await clientOf(connectionString)
      return await work(known)
    } catch (error) {
      throw failure(error, timeoutMs)
    }
  }
  // A redirect would send the connection string with its password to another address.
  const fetchOptions = () => ({ signal: AbortSignal.timeout(timeoutMs), redirect: 'manual' })

  return {
    run: ({ text, values }) =>
      run((client) => client.query(text, [...values], { ...RAW, fetchOptions: fetchOptions() })),
    runAll: (statements) =>
      run((client) => {
        const query = ({ text, values }: WireStatement) => client.query(text, [...values], RAW)
        return client.transaction(statements.map(query), { ...RAW, fetchOptions: fetchOptions() })
      }),
    close: async () => {},
  }
}

/** An error as SqlError. The client's own messages are not repeated, since some hold the connection string. */
function failure(error: unknown, timeoutMs: number): SqlError {
  const { code, message, sourceError } = error as Partial<NeonDbError>
  // An abort in the middle of an answer has a number there.
  if (typeof code === 'string' && code !== '') return refused(code, String(message))
  if ((sourceError ?? (error as Error)).name === 'TimeoutError') return noAnswer(timeoutMs)
  const status = /^Server error \(HTTP status (\d+)\)/.exec(String(message))?.[1]
  if (status) return new SqlError(`The database answered with HTTP status ${status}.`)
  // `sourceError` is an error of the network.
  return new SqlError(
    sourceError ? 'The database cannot be reached.' : 'The database gave an answer that cannot be read.',
  )
}
