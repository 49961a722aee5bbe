import { sql } from 'kysely'
import type { Secret } from '../../../lib/secret.ts'
import { rowsOf } from '../query.ts'
import type { Sql } from '../sql.ts'
import { fingerprintOfSchema } from './apply-schema.ts'
import { fingerprintOfSalt, SALT_FINGERPRINT } from './same-salt.ts'

export interface Installation {
  readonly serverVersion: string
  /** The clock of the database. */
  readonly nowMs: number
  readonly schema: 'current' | 'other' | 'none'
  readonly salt: 'same' | 'other' | 'none'
}

/** What a database tells of itself before a gateway starts on it. It changes nothing. */
export async function installationOf(database: Sql, schemaText: string, saltKey?: Secret): Promise<Installation> {
  const [server] = await rowsOf(
    database,
    sql<{ version: string; now: string; has_tables: boolean }>`
      SELECT current_setting('server_version') AS version, clock_timestamp() AS now,
        to_regclass('gateway_schema') IS NOT NULL AND to_regclass('gateway_installation') IS NOT NULL AS has_tables`,
  )
  const { version = '', now = '', has_tables: hasTables = false } = server ?? {}
  const facts = { serverVersion: version, nowMs: Date.parse(now) }
  if (!hasTables) return { ...facts, schema: 'none', salt: 'none' }
  const current = await fingerprintOfSchema(schemaText)
  const [kept] = await rowsOf(
    database,
    sql<{ is_current: boolean; salt: string | null }>`
      SELECT EXISTS (SELECT FROM gateway_schema WHERE version = ${current}) AS is_current,
        (SELECT value FROM gateway_installation WHERE name = ${SALT_FINGERPRINT}) AS salt`,
  )
  const salt = kept?.salt ?? undefined
  return {
    ...facts,
    schema: kept?.is_current ? 'current' : 'other',
    salt: salt === undefined ? 'none' : saltKey && fingerprintOfSalt(saltKey) === salt ? 'same' : 'other',
  }
}
