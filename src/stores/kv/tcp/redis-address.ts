/** Files in PEM, named by parameters of an address as they are in one of PostgreSQL: the certificate of the authority that
 *  vouches for the server, and the gateway's own certificate with its key. */
export interface TlsFiles {
  readonly sslrootcert?: string
  readonly sslcert?: string
  readonly sslkey?: string
}

const FILES: ReadonlySet<string> = new Set<keyof TlsFiles>(['sslrootcert', 'sslcert', 'sslkey'])

/** Where a Redis is, and what it is told first. */
export interface RedisAddress {
  readonly host: string
  readonly port: number
  readonly isSecure: boolean
  readonly files: TlsFiles
  /** The commands that sign in and choose the database. */
  readonly greeting: readonly (readonly string[])[]
}

const PORT = 6379

/** Reads `redis://[user:password@]host[:port][/database]`, `rediss://…[?sslrootcert=FILE&sslcert=FILE&sslkey=FILE]` for
 *  TLS. */
export function redisAddress(url: string): RedisAddress {
  const { protocol, hostname, port, username, password, pathname, searchParams } = new URL(url)
  if (protocol !== 'redis:' && protocol !== 'rediss:') throw new TypeError('not an address of Redis')
  const database = Number(pathname.slice(1))
  if (Number.isNaN(database)) throw new TypeError('not a number of a database')
  const [user, secret] = [decodeURIComponent(username), decodeURIComponent(password)]
  const greeting: string[][] = []
  if (user) greeting.push(['AUTH', user, secret])
  else if (secret) greeting.push(['AUTH', secret])
  if (database !== 0) greeting.push(['SELECT', String(database)])
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port ? Number(port) : PORT,
    isSecure: protocol === 'rediss:',
    files: Object.fromEntries([...searchParams].filter(([name]) => FILES.has(name))),
    greeting,
  }
}
