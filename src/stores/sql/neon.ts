import { credentialsOf } from './connection-string.ts'
import { type Sql, SqlError } from './sql.ts'
import { noAnswer, refused, sqlOver, type Wire, type WireResult, type WireStatement } from './wire.ts'

export interface NeonOptions {
  readonly connectionString: string
  /** Where statements are posted; by default Neon's own endpoint for the host of the connection string. */
  readonly fetchEndpoint?: string
  readonly timeoutMs?: number
}

/** Postgres over HTTP, as Neon speaks it: one request a query, one request a batch, nothing kept open. */
export function neonSql({ connectionString, fetchEndpoint, timeoutMs = 10_000 }: NeonOptions): Sql {
  credentialsOf(connectionString)
  const address = new URL(connectionString)
  // A header takes what an address is once everything odd in it is escaped.
  return sqlOver(neonWire(fetchEndpoint ?? ownEndpoint(address), address.href, timeoutMs))
}

/** Neon takes HTTP at a host beside that of the database. */
function ownEndpoint({ hostname }: URL): string {
  return `https://${hostname.replace(/^[^.]+\./, 'api.')}/sql`
}

// Neon's own client brings a driver with sockets of its own, a sixth of the bundle: this is all that it says over HTTP.
function neonWire(endpoint: string, connectionString: string, timeoutMs: number): Wire {
  const headers = {
    'Neon-Connection-String': connectionString,
    'Neon-Raw-Text-Output': 'true',
    'Neon-Array-Mode': 'true',
  }

  async function post(body: object): Promise<unknown> {
    try {
      const response = await fetch(endpoint, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs),
        // It would carry the connection string, password included, to wherever it points.
        redirect: 'manual',
      })
      if (response.ok) return await response.json()
      throw await failureOf(response)
    } catch (error) {
      if (error instanceof SqlError) throw error
      if (error instanceof Error && error.name === 'TimeoutError') throw noAnswer(timeoutMs)
      // Texts of the platform are not repeated: some hold the address.
      throw new SqlError('The database cannot be reached.')
    }
  }

  return {
    async run(statement) {
      return resultOf(await post(asNeon(statement)))
    },
    async runAll(statements) {
      const answer = await post({ queries: statements.map(asNeon) })
      const { results } = (answer ?? {}) as { readonly results?: unknown }
      if (!Array.isArray(results) || results.length !== statements.length) throw unreadable()
      return results.map(resultOf)
    },
    close: async () => {},
  }
}

function asNeon({ text, values }: WireStatement): object {
  return { query: text, params: values }
}

function resultOf(answer: unknown): WireResult {
  const result = (answer ?? {}) as Partial<WireResult>
  if (!Array.isArray(result.fields) || !Array.isArray(result.rows)) throw unreadable()
  return result as WireResult
}

function unreadable(): SqlError {
  return new SqlError('The database gave an answer that cannot be read.')
}

/** In the server's own words, where it named the failure. */
async function failureOf(response: Response): Promise<SqlError> {
  if (response.status === 400) {
    const { code, message } = (await response.json()) as { readonly code?: string; readonly message?: string }
    if (code) return refused(code, String(message))
  } else {
    await response.body?.cancel()
  }
  return new SqlError(`The database answered with HTTP status ${response.status}.`)
}
