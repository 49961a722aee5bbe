import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../../../config/schema.ts'
import { tryLockFolder } from '../../../../lib/folder-lock.node.ts'
import { reveal } from '../../../../lib/secret.ts'
import { installationOf } from '../../../../stores/sql/schema/installation.ts'
import { type Sql, SqlError } from '../../../../stores/sql/sql.ts'
import { databaseAdvice } from '../../setup/database-advice.ts'
import { SCHEMA } from '../../setup/places.node.ts'
import { type Finding, fail, ok, skewOf, warn } from './finding.ts'

const OLDEST_POSTGRES = 15
const SLOW_MS = 50

/** Checks the database. Nothing is written to it. */
export async function database({ general_settings: settings }: Config, dataFolder: string): Promise<Finding[]> {
  const { database_url: url } = settings
  if (url) {
    const { nodePostgresSql } = await import('../../../../stores/sql/adapters/node-postgres.node.ts')
    return examined(() => nodePostgresSql({ connectionString: reveal(url), timeoutMs: 5000 }), settings, 'PostgreSQL')
  }
  const folder = join(dataFolder, 'postgres')
  if (!existsSync(folder)) return [ok('database', 'embedded; the first start makes it')]
  const unlock = tryLockFolder(folder)
  if (!unlock) {
    const pid = existsSync(`${folder}.pid`) ? readFileSync(`${folder}.pid`, 'utf8') : 'unknown'
    return [ok('database', `embedded; the gateway (process ${pid}) is running on it, so it was not checked`)]
  }
  unlock()
  const { pgliteSql } = await import('../../../../stores/sql/adapters/pglite.node.ts')
  return examined(() => pgliteSql({ folder }), settings, 'embedded')
}

async function examined(
  open: () => Sql | Promise<Sql>,
  settings: Config['general_settings'],
  kind: 'PostgreSQL' | 'embedded',
): Promise<Finding[]> {
  let sql: Sql | undefined
  try {
    sql = await open()
    // The first statement pays for the connection.
    await sql.ping(5000)
    const beforeMs = Date.now()
    const found = await installationOf(sql, readFileSync(SCHEMA, 'utf8'), settings)
    const afterMs = Date.now()
    const major = Number.parseInt(found.serverVersion, 10)
    const says = `${kind} ${found.serverVersion}, ${afterMs - beforeMs} ms away`
    const old = major < OLDEST_POSTGRES
    const slow = kind === 'PostgreSQL' && afterMs - beforeMs > SLOW_MS
    return [
      old
        ? fail('database', `${says}: version ${OLDEST_POSTGRES} or newer is needed`)
        : slow
          ? warn('database', `${says}: put the gateway nearer to it`)
          : ok('database', says),
      ...(kind === 'PostgreSQL' ? [skewOf('database clock', found.nowMs, beforeMs, afterMs)] : []),
      schemaOf(found),
      saltOf(found.salt),
      ...sealedOf(found, settings),
    ]
  } catch (error) {
    if (kind === 'embedded') return [fail('database', (error as Error).message)]
    const what = error instanceof SqlError ? databaseAdvice(error) : 'See DATABASE_URL.'
    return [fail('database', `${kind} cannot be asked (${(error as Error).message.replace(/\.$/, '')}). ${what}`)]
  } finally {
    await sql?.close()
  }
}

type Installation = Awaited<ReturnType<typeof installationOf>>

function schemaOf({ schema, isStandby, mayCreate }: Installation): Finding {
  if (isStandby) return fail('schema', 'this server takes no writes: name the primary one in DATABASE_URL')
  if (schema !== 'current' && !mayCreate)
    return fail('schema', 'may not be made by the user of DATABASE_URL: make that user the owner of the database')
  if (schema === 'current') return ok('schema', 'that of this build')
  if (schema === 'none') return ok('schema', 'none yet; the first start makes it')
  return warn('schema', 'of another build: the start of this one adds what is missing. Make a backup before')
}

function saltOf(salt: Installation['salt']): Finding {
  if (salt === 'same') return ok('salt key', 'that of the database')
  if (salt === 'none') return ok('salt key', 'the database has none yet, and will be of this one')
  const message =
    'the database was set up under another one: set GATEWAY_SALT_KEY to that, or the gateway does not start'
  return fail('salt key', message)
}

/** What an exchange of the salt key has left to do. */
function sealedOf({ salt, sealed }: Installation, settings: Config['general_settings']): Finding[] {
  if (salt !== 'same') return []
  const still = sealed.others.map(({ what, count }) => `${count} ${what}`).join(', ') || 'no secrets'
  if (sealed.state === 'unread') {
    const message = `${still} in the database are sealed under another salt key: set GATEWAY_SALT_KEY_PREVIOUS to the key before this one, or GATEWAY_SALT_KEY_NEXT to the one after it`
    return [fail('sealed secrets', message)]
  }
  if (settings.salt_key_previous) {
    const over =
      'none is sealed under the former salt key: GATEWAY_SALT_KEY_PREVIOUS may go, as soon as answers kept for later calls (responses_retention) are newer than the last start with the former key'
    const going = `${still} are still sealed under the former salt key: running gateways seal them anew, a minute apart. Keep GATEWAY_SALT_KEY_PREVIOUS`
    return [sealed.state === 'own' ? ok('sealed secrets', over) : warn('sealed secrets', going)]
  }
  if (settings.salt_key_next) return [ok('sealed secrets', 'the next salt key is known, and not in use here yet')]
  return []
}
