import { keyHasher } from '../../../lib/crypto.ts'
import { reveal, type Secret } from '../../../lib/secret.ts'
import { batchOf, queries } from '../query.ts'
import type { Sql } from '../sql.ts'

const NAME = 'salt_key_fingerprint'

/** Tells salt keys apart, and says nothing of any. */
function fingerprintOf(saltKey: Secret): string {
  return keyHasher(reveal(saltKey))('the fingerprint of a salt key').slice(0, 32)
}

/** Throws a sentence for the operator where the database belongs to a gateway with another salt key: no key of one would be
 *  known to the other, and no sealed secret be opened. The first that comes leaves the fingerprint of its own. */
export async function requireSameSalt(sql: Sql, saltKey: Secret | undefined): Promise<void> {
  if (!saltKey) return
  const own = fingerprintOf(saltKey)
  const [, [kept]] = await batchOf(sql, [
    queries
      .insertInto('gateway_installation')
      .values({ name: NAME, value: own })
      .onConflict((conflict) => conflict.doNothing())
      .returning('value'),
    queries.selectFrom('gateway_installation').select('value').where('name', '=', NAME),
  ])
  if (kept?.value === own) return
  throw new Error(
    'the database was set up under another salt key: with this one no API key in it is known, and no provider key in it can be read. Set GATEWAY_SALT_KEY (general_settings.salt_key) to the earlier one, or name another database.',
  )
}
