import { type NeonDbError, neon, neonConfig } from '@neondatabase/serverless'
import { credentialsOf } from './connection-string.ts'
import { type Sql, SqlError } from './sql.ts'
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

// The client keeps its endpoint in one variable for the whole process. It is set once, here, to a look-up by host and
// port, so that several databases can be spoken to at a time.
const endpoints = new Map<string, string>()
const ownEndpoint = neonConfig.fetchEndpoint
neonConfig.fetchEndpoint = (host, port, options) =>
  endpoints.get(`${host}:${port}`) ??
  (typeof ownEndpoint === 'function' ? ownEndpoint(host, port, options) : ownEndpoint)

function neonWire(connectionString: string, timeoutMs: number): Wire {
  const raw = { arrayMode: true, fullResults: true, types: { getTypeParser: () => (text: string) => text } } as const
  const client = neon(connectionString, raw)
  // A redirect would carry the connection string, password included, to wherever it points.
  const fetchOptions = () => ({ signal: AbortSignal.timeout(timeoutMs), redirect: 'manual' })
  const query = ({ text, values }: WireStatement, options = {}) =>
    client.query(text, [...values], { ...raw, ...options })

  return {
    async run(statement) {
      try {
        return await query(statement, { fetchOptions: fetchOptions() })
      } catch (error) {
        throw failure(error, timeoutMs)
      }
    },
    async runAll(statements) {
      try {
        return await client.transaction(
          statements.map((statement) => query(statement)),
          { ...raw, fetchOptions: fetchOptions() },
        )
      } catch (error) {
        throw failure(error, timeoutMs)
      }
    },
    close: async () => {},
  }
}

/** The client's own texts are not repeated where the server did not name the failure: some hold the connection string. */
function failure(error: unknown, timeoutMs: number): SqlError {
  const { code, message, sourceError = error } = error as Partial<NeonDbError>
  if (code) return refused(code, String(message))
  if (sourceError instanceof Error && sourceError.name === 'TimeoutError') return noAnswer(timeoutMs)
  const status = /^Server error \(HTTP status (\d+)\)/.exec(String(message))?.[1]
  return new SqlError(status ? `The database answered with HTTP status ${status}.` : 'The database cannot be reached.')
}
