import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import type { RedisAddress } from './redis-address.ts'

/** What TLS needs to know of a Redis. The files are read at every connection, so that renewed certificates are used. */
export function redisTls({ host, files }: Pick<RedisAddress, 'host' | 'files'>): ConnectionOptions {
  const { sslrootcert, sslcert, sslkey } = files
  return {
    // By this name a proxy finds the server, and a server its certificate. Node sends none of its own accord.
    ...(isIP(host) === 0 && { servername: host }),
    ...(sslrootcert && { ca: readFileSync(sslrootcert) }),
    ...(sslcert && { cert: readFileSync(sslcert) }),
    ...(sslkey && { key: readFileSync(sslkey) }),
  }
}
