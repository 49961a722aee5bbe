import { createHash } from 'node:crypto'
import pg from 'pg'
import { NO_TLS, READ_ONLY, type Sql, SqlError } from '../sql.ts'
import { credentialsOf } from './connection-string.ts'
import { noAnswer, refused, sqlOver, type Wire, type WireResult, type WireStatement } from './wire.ts'

export interface NodePostgresOptions {
  readonly connectionString: string
  readonly timeoutMs?: number
  readonly connections?: number
}

/** At the other levels, of which a database may have one as its default, the second of two changes of a row at once fails. */
const READ_COMMITTED = '-c default_transaction_isolation=read\\ committed'

/** For how long no further connection is asked of a server that has no room for one. */
const FEW_MS = 10_000
/** How often a statement hopes for those that are being opened, where none stands yet. */
const MOST_HOPES = 3

/** Postgres over TCP: a pool that opens connections on demand. */
export function nodePostgresSql(options: NodePostgresOptions): Sql {
  return sqlOver(nodePostgresWire(options))
}

/** The same as a Wire, whose values stay text. */
export function nodePostgresWire({
  connectionString,
  timeoutMs = 10_000,
  connections = 10,
}: NodePostgresOptions): Wire {
  credentialsOf(connectionString)
  const { address, options } = apart(verifying(connectionString))
  const pool = new pg.Pool({
    connectionString: address,
    max: connections,
    keepAlive: true,
    pipeline: true,
    connectionTimeoutMillis: timeoutMs,
    // Compiling a statement takes the server longer than running any of these.
    // The server's timeout comes first and keeps the connection usable. The client's own is for a server that is gone, and
    // for a pooler that takes no options.
    options: `${options} -c statement_timeout=${timeoutMs} -c datestyle=ISO -c jit=off ${READ_COMMITTED}`,
    query_timeout: timeoutMs + 500,
  })
  /** The connections that stand. The pool's own count has those that are being opened. */
  let standing = 0
  // The statement on a broken connection fails, and the pool opens another one. Without these listeners the same error
  // would end the process: that of an idle connection on the pool, that of a busy one on the client.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    standing += 1
    client.on('error', () => {})
  })
  pool.on('remove', () => {
    standing -= 1
  })

  let keepsPlans = true
  let fewUntil = 0
  /** Tries again, and does without from then on, if a pooler before the server knows nothing of plans or options: then
   *  nothing was run. So it does for a while with the connections that there are, if the server has no room for another.
   *  `text`: of the statement whose plan is kept. */
  async function tried<Answer>(
    attempt: (plan?: string) => Promise<Answer>,
    text?: string,
    hopes = MOST_HOPES,
  ): Promise<Answer> {
    if (pool.options.max < connections && performance.now() > fewUntil) pool.options.max = connections
    const plan = keepsPlans && text !== undefined ? planName(text) : undefined
    const hasOptions = pool.options.options !== options
    try {
      return await attempt(plan)
    } catch (error) {
      if (plan && isOfPlan(error)) keepsPlans = false
      else if (hasOptions && isOfOptions(error)) pool.options.options = options
      else if (isOfRoom(error) && (standing > 0 || (hopes > 0 && pool.totalCount > 0))) {
        pool.options.max = standing || pool.totalCount
        fewUntil = performance.now() + FEW_MS
      } else throw failure(error, timeoutMs)
      return tried(attempt, text, hopes - 1)
    }
  }

  return {
    run: (statement) =>
      tried(
        async (name) => printed(await pool.query({ ...asQuery(statement), ...(name && { name }) })),
        statement.repeated === 'at any size' ? statement.text : undefined,
      ),
    runAll: (statements) => tried(() => inTransaction(pool, statements)),
    async close() {
      if (!pool.ending) await pool.end()
    },
  }
}

/** The modes of TLS that the driver takes for `verify-full`, with a warning of several lines on standard error. */
const VERIFYING_MODES = /([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/

/** How addresses of hosted servers name all authorities that a machine trusts. The driver would read a file of that name. */
const TRUSTED_ONES = /([?&])sslrootcert=system(?=&|$)/

/** The address with such a mode by its name. */
function verifying(connectionString: string): string {
  const address = connectionString.replace(TRUSTED_ONES, '$1sslmode=verify-full')
  if (address.includes('uselibpqcompat=')) return address
  return address.replace(VERIFYING_MODES, '$1verify-full')
}

/** The address without the options that it names for the server, which would replace all others, and these. */
function apart(connectionString: string): { readonly address: string; readonly options: string } {
  const url = new URL(connectionString)
  const options = url.searchParams.get('options')
  if (options === null) return { address: connectionString, options: '' }
  url.searchParams.delete('options')
  return { address: url.href, options }
}

/** Sends all statements and COMMIT at once: after a failed statement the server skips the others and rolls back. */
async function inTransaction(pool: pg.Pool, statements: readonly WireStatement[]): Promise<WireResult[]> {
  const client = await pool.connect()
  const texts = [{ text: 'BEGIN', values: [] }, ...statements, { text: 'COMMIT', values: [] }]
  const outcomes = await Promise.allSettled(texts.map((statement) => client.query(asQuery(statement))))
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  client.release(failed !== undefined && !isStatementsOwn(failed.reason))
  if (failed) throw failed.reason
  return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [printed(outcome.value)] : [])).slice(1, -1)
}

/** Whether an error is the statement's own, so that the connection is still usable. One to a server that has become a
 *  standby is not: another may lead to its successor. */
function isStatementsOwn(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.severity === 'ERROR' && error.code !== READ_ONLY
}

const planNames = new Map<string, string>()

/** The name of a statement's plan: the same in every process, since a pooler hands connections from one to another. */
function planName(text: string): string {
  let name = planNames.get(text)
  if (name === undefined) {
    name = `gateway_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
    planNames.set(text, name)
  }
  return name
}

/** SQLSTATE invalid_sql_statement_name and duplicate_prepared_statement, from a connection that a pooler has exchanged;
 *  and feature_not_supported, from one whose plan is for columns of another type. */
const PLAN_FAILURES: ReadonlySet<string | undefined> = new Set(['26000', '42P05', '0A000'])

/** Whether a statement was not run because of its plan. */
function isOfPlan(error: unknown): boolean {
  return error instanceof pg.DatabaseError && PLAN_FAILURES.has(error.code)
}

/** Whether a connection was refused because the server, the role or a pooler has as many as it may have. */
function isOfRoom(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false
  return error.code === '53300' || (error.code === '08P01' && error.message.includes('no more connections'))
}

/** Whether a connection was refused because of its options. */
function isOfOptions(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '08P01' && error.message.includes('startup parameter')
}

type Printed = (string | null)[]

// Without parameters pg would choose the protocol that takes several statements in one text.
function asQuery({ text, values }: WireStatement) {
  return {
    text,
    values: [...values],
    rowMode: 'array',
    queryMode: 'extended',
    types: { getTypeParser: () => (value: string) => value },
  } satisfies pg.QueryArrayConfig & { queryMode: 'extended' }
}

function printed({ command, rowCount, fields, rows }: pg.QueryArrayResult<Printed>): WireResult {
  return { command, rowCount, fields: fields.map(({ name, dataTypeID }) => ({ name, dataTypeID })), rows }
}

function failure(error: unknown, timeoutMs: number): SqlError {
  if (error instanceof pg.DatabaseError && error.code) return refused(error.code, error.message)
  const { message, code } = error as NodeJS.ErrnoException
  if (/timeout/i.test(message)) return noAnswer(timeoutMs)
  if (/does not support SSL/.test(message)) return unreached('it speaks no TLS', NO_TLS)
  return unreached(code, code)
}

function unreached(why: string | undefined, unconnected: string | undefined): SqlError {
  return new SqlError(`The database cannot be reached${why ? ` (${why})` : ''}.`, undefined, unconnected)
}
