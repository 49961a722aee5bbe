import { keyHasher } from '../../../lib/crypto.ts'
import { reveal, type Secret } from '../../../lib/secret.ts'
import { batchOf, queries } from '../query.ts'
import type { Sql } from '../sql.ts'

/** Where the database keeps it. */
export const SALT_FINGERPRINT = 'salt_key_fingerprint'

/** Identifies a salt key without revealing it. */
export function fingerprintOfSalt(saltKey: Secret): string {
  return keyHasher(reveal(saltKey))('the fingerprint of a salt key').slice(0, 32)
}

/** Throws if the database belongs to a gateway with another salt key, which could neither find its API keys nor open
 *  its sealed secrets. The first gateway stores the fingerprint of its key. */
export async function requireSameSalt(sql: Sql, saltKey: Secret | undefined): Promise<void> {
  if (!saltKey) return
  const own = fingerprintOfSalt(saltKey)
  const [, [kept]] = await batchOf(sql, [
    queries
      .insertInto('gateway_installation')
      .values({ name: SALT_FINGERPRINT, value: own })
      .onConflict((conflict) => conflict.doNothing())
      .returning('value'),
    queries.selectFrom('gateway_installation').select('value').where('name', '=', SALT_FINGERPRINT),
  ])
  if (kept?.value === own) return
  throw new Error(
    'the database was set up under another salt key: with this one no API key in it is known, and no provider key in it can be read. Set GATEWAY_SALT_KEY (general_settings.salt_key) to the earlier one, or name another database.',
  )
}
