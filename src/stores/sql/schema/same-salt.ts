import { sql as text } from 'kysely'
import { keyHasher } from '../../../lib/crypto.ts'
import { FIRST_MARK, readSaltKey, type SaltKeys } from '../../../lib/sealing/salt-key.ts'
import { reveal, type Secret } from '../../../lib/secret.ts'
import { batchOf, queries } from '../query.ts'
import type { Sql } from '../sql.ts'
import { sealedCounts } from './sealed-columns.ts'

/** Where the database keeps the fingerprint, and the mark of the salt key under which all that is sealed can be read. */
export const SALT_FINGERPRINT = 'salt_key_fingerprint'
export const SEALED_UNDER = 'sealed_under'
/** What it has while another database is being copied into it. */
export const COPY_BEGUN = 'copy_begun'

/** Identifies what a salt key hashes under, without revealing it: all successors of a key have its fingerprint. */
export function fingerprintOfSalt(saltKey: Secret): string {
  return keyHasher(readSaltKey(reveal(saltKey)).hashing)('the fingerprint of a salt key').slice(0, 32)
}

export function markOfSalt(saltKey: Secret | undefined): string | undefined {
  return saltKey && readSaltKey(reveal(saltKey)).mark
}

/** The marks of the keys by which a gateway reads what is sealed. */
export function marksOf({ salt_key, salt_key_next, salt_key_previous }: SaltKeys): readonly string[] {
  return [salt_key, salt_key_next, salt_key_previous].map(markOfSalt).filter((mark) => mark !== undefined)
}

/** Throws if the database belongs to a gateway with another salt key, which could not find its API keys, if secrets in
 *  it are sealed under a key that this one was not given, or if it holds a part of another one. The first gateway stores
 *  what identifies its key. */
export async function requireSameSalt(sql: Sql, keys: SaltKeys): Promise<void> {
  const { salt_key: saltKey } = keys
  if (!saltKey) return
  const own = fingerprintOfSalt(saltKey)
  const [, , kept] = await batchOf(sql, [
    // Databases of earlier builds have no mark yet. Of a new database nothing is sealed.
    text`
      INSERT INTO gateway_installation (name, value)
      SELECT ${SEALED_UNDER}, CASE
        WHEN EXISTS (SELECT FROM gateway_installation WHERE name = ${SALT_FINGERPRINT}) THEN ${FIRST_MARK}
        ELSE ${markOfSalt(saltKey)} END
      ON CONFLICT DO NOTHING`,
    queries
      .insertInto('gateway_installation')
      .values({ name: SALT_FINGERPRINT, value: own })
      .onConflict((conflict) => conflict.doNothing()),
    queries
      .selectFrom('gateway_installation')
      .select(['name', 'value'])
      .where('name', 'in', [SALT_FINGERPRINT, SEALED_UNDER, COPY_BEGUN]),
  ])
  const keptAs = (name: string) => kept.find((row) => row.name === name)?.value
  if (keptAs(COPY_BEGUN) !== undefined)
    throw new Error('the copy into the database was interrupted. Run copy-database again, which begins it anew.')
  if (keptAs(SALT_FINGERPRINT) !== own) {
    throw new Error(
      'the database was set up under another salt key: with this one no API key in it is known, and no provider key in it can be read. Set GATEWAY_SALT_KEY (general_settings.salt_key) to the earlier one, or name another database.',
    )
  }
  const mark = keptAs(SEALED_UNDER) ?? FIRST_MARK
  if (marksOf(keys).includes(mark)) return
  const counts = await sealedCounts(sql, mark)
  const still = counts.map(({ what, count }) => `${count} ${what}`).join(', ')
  throw new Error(
    `the database's secrets (${still || 'none now'}) are not known to be sealed under this salt key, but under one before or after it. Set GATEWAY_SALT_KEY_PREVIOUS (general_settings.salt_key_previous) to the key before it until the log says salt_key.previous_unneeded; on the way back, set GATEWAY_SALT_KEY_NEXT to the key after it.`,
  )
}
