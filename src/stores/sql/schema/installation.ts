import { sql } from 'kysely'
import { FIRST_MARK, type SaltKeys } from '../../../lib/sealing/salt-key.ts'
import { rowsOf } from '../query.ts'
import type { Sql } from '../sql.ts'
import { fingerprintOfSchema } from './apply-schema.ts'
import { fingerprintOfSalt, marksOf, SALT_FINGERPRINT, SEALED_UNDER } from './same-salt.ts'
import { sealedCounts } from './sealed-columns.ts'

export interface Installation {
  readonly serverVersion: string
  /** The clock of the database. */
  readonly nowMs: number
  /** A standby, which takes no writes. */
  readonly isStandby: boolean
  /** Whether the gateway's user may create tables. */
  readonly mayCreate: boolean
  readonly schema: 'current' | 'other' | 'none'
  readonly salt: 'same' | 'other' | 'none'
  /** The texts that are sealed under other keys than the current one, and whether this gateway can open them. */
  readonly sealed: { readonly state: 'own' | 'read' | 'unread'; readonly others: readonly SealedCount[] }
}

type SealedCount = Awaited<ReturnType<typeof sealedCounts>>[number]

/** Reads the state of a database before a gateway starts on it. Changes nothing. */
export async function installationOf(database: Sql, schemaText: string, keys: SaltKeys): Promise<Installation> {
  const [server] = await rowsOf(
    database,
    sql<{ version: string; now: string; is_standby: boolean; may_create: boolean | null; has_tables: boolean }>`
      SELECT current_setting('server_version') AS version, clock_timestamp() AS now,
        pg_is_in_recovery() AS is_standby, has_schema_privilege(current_schema(), 'CREATE') AS may_create,
        to_regclass('gateway_schema') IS NOT NULL AND to_regclass('gateway_installation') IS NOT NULL AS has_tables`,
  )
  const { version = '', now = '', has_tables: hasTables = false } = server ?? {}
  const facts = {
    serverVersion: version,
    nowMs: Date.parse(now),
    isStandby: server?.is_standby === true,
    mayCreate: server?.may_create === true,
  }
  if (!hasTables) return { ...facts, schema: 'none', salt: 'none', sealed: NOTHING }
  const current = await fingerprintOfSchema(schemaText)
  const [kept] = await rowsOf(
    database,
    sql<{ is_current: boolean; salt: string | null; mark: string | null }>`
      SELECT EXISTS (SELECT FROM gateway_schema WHERE version = ${current}) AS is_current,
        (SELECT value FROM gateway_installation WHERE name = ${SALT_FINGERPRINT}) AS salt,
        (SELECT value FROM gateway_installation WHERE name = ${SEALED_UNDER}) AS mark`,
  )
  const salt = kept?.salt ?? undefined
  const { salt_key: saltKey } = keys
  return {
    ...facts,
    schema: kept?.is_current ? 'current' : 'other',
    salt: salt === undefined ? 'none' : saltKey && fingerprintOfSalt(saltKey) === salt ? 'same' : 'other',
    sealed: saltKey && salt !== undefined ? await sealedOf(database, kept?.mark ?? FIRST_MARK, keys) : NOTHING,
  }
}

const NOTHING: Installation['sealed'] = { state: 'own', others: [] }

async function sealedOf(database: Sql, mark: string, keys: SaltKeys): Promise<Installation['sealed']> {
  const [own, ...beside] = marksOf(keys)
  const counts = await Promise.all(
    [...new Set([mark, ...beside])].filter((one) => one !== own).map((one) => sealedCounts(database, one)),
  )
  const others = counts.flat()
  if (mark === own) return { state: others.length > 0 ? 'read' : 'own', others }
  return { state: beside.includes(mark) ? 'read' : 'unread', others }
}
