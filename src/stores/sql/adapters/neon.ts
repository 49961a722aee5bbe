import type { NeonDbError, NeonQueryFunction } from '@neondatabase/serverless'
import { type Sql, SqlError } from '../sql.ts'
import { credentialsOf } from './connection-string.ts'
import { noAnswer, refused, sqlOver, type Wire, type WireStatement } from './wire.ts'

export interface NeonOptions {
  readonly connectionString: string
  /** Where statements are posted; by default Neon's own endpoint for the host of the connection string. */
  readonly fetchEndpoint?: string
  readonly timeoutMs?: number
}

/** Postgres over HTTP, as Neon speaks it: one request a query, one request a batch, nothing kept open. */
export function neonSql({ connectionString, fetchEndpoint, timeoutMs = 10_000 }: NeonOptions): Sql {
  credentialsOf(connectionString)
  const { hostname, port } = new URL(connectionString)
  if (fetchEndpoint !== undefined) endpoints.set(`${hostname}:${port}`, fetchEndpoint)
  return sqlOver(neonWire(connectionString, timeoutMs))
}

type Client = NeonQueryFunction<true, true>
const RAW = { arrayMode: true, fullResults: true, types: { getTypeParser: () => (text: string) => text } } as const

const endpoints = new Map<string, string>()
let told = false

/** The client, evaluated with the first statement: it brings a driver with sockets of its own, which would be a sixth of
 *  what a worker does before its first request. */
async function clientOf(connectionString: string): Promise<Client> {
  const { neon, neonConfig } = await import('@neondatabase/serverless')
  if (!told) {
    told = true
    // It keeps its endpoint in one variable for the whole process. It is set once, here, to a look-up by host and port, so
    // that several databases can be spoken to at a time.
    const own = neonConfig.fetchEndpoint
    neonConfig.fetchEndpoint = (host, port, options) =>
      endpoints.get(`${host}:${port}`) ?? (typeof own === 'function' ? own(host, port, options) : own)
  }
  return neon(connectionString, RAW)
}

function neonWire(connectionString: string, timeoutMs: number): Wire {
  let known: Client | undefined
  const ask = async <Answer>(work: (client: Client) => Promise<Answer>): Promise<Answer> => {
    try {
      known ??= await clientOf(connectionString)
      return await work(known)
    } catch (error) {
      throw failure(error, timeoutMs)
    }
  }
  // A redirect would carry the connection string, password included, to wherever it points.
  const fetchOptions = () => ({ signal: AbortSignal.timeout(timeoutMs), redirect: 'manual' })

  return {
    run: ({ text, values }) =>
      ask((client) => client.query(text, [...values], { ...RAW, fetchOptions: fetchOptions() })),
    runAll: (statements) =>
      ask((client) => {
        const query = ({ text, values }: WireStatement) => client.query(text, [...values], RAW)
        return client.transaction(statements.map(query), { ...RAW, fetchOptions: fetchOptions() })
      }),
    close: async () => {},
  }
}

/** The client's own texts are not repeated where the server did not name the failure: some hold the connection string. */
function failure(error: unknown, timeoutMs: number): SqlError {
  const { code, message, sourceError } = error as Partial<NeonDbError>
  if (code) return refused(code, String(message))
  if ((sourceError ?? (error as Error)).name === 'TimeoutError') return noAnswer(timeoutMs)
  const status = /^Server error \(HTTP status (\d+)\)/.exec(String(message))?.[1]
  if (status) return new SqlError(`The database answered with HTTP status ${status}.`)
  // It keeps what went wrong on the way.
  return new SqlError(
    sourceError ? 'The database cannot be reached.' : 'The database gave an answer that cannot be read.',
  )
}
