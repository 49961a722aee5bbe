import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { jsonLog } from '../../../lib/log.ts'
import { reveal } from '../../../lib/secret.ts'
import { nodePostgresSql } from '../../../stores/sql/adapters/node-postgres.node.ts'
import { pgliteSql } from '../../../stores/sql/adapters/pglite.node.ts'
import { copyDatabase } from '../../../stores/sql/copy-database.ts'
import { nodeConfig } from '../setup/config.node.ts'
import { SCHEMA } from '../setup/places.node.ts'
import { nodeSettings } from '../setup/settings.node.ts'
import { prepareDatabase } from '../setup/starting-sql.ts'
import type { Environment } from './admin-api.ts'
import { optionsOf, outcomeOf, print, UsageError } from './options.node.ts'

export const COPY_USAGE = `Usage: model-gateway copy-database

  copies the embedded database of GATEWAY_DATA_DIR into the PostgreSQL of DATABASE_URL, on which no gateway has been
  started. It needs a gateway that has ended, and leaves the embedded database as it is. Run again, it begins anew
`

const PATIENCE_MS = 5000

/** `model-gateway copy-database`. */
export function copyDatabaseCommand(operands: readonly string[], env: Environment): Promise<number> {
  return outcomeOf(COPY_USAGE, async () => {
    const { positionals } = optionsOf(operands, {})
    if (positionals.length > 0) throw new UsageError(`There is no command copy-database ${positionals.join(' ')}`)
    const { configPath, dataFolder } = nodeSettings(env)
    const { general_settings: settings } = nodeConfig(configPath, dataFolder, env).config
    const folder = join(dataFolder, 'postgres')
    if (!existsSync(folder)) throw new Error(`There is no embedded database in ${dataFolder}. Set GATEWAY_DATA_DIR.`)
    if (!settings.database_url) throw new Error('There is no database to copy to. Set DATABASE_URL.')
    process.umask(0o077)
    const log = jsonLog('warn', (line) => process.stderr.write(`${line}\n`))
    const schemaText = readFileSync(SCHEMA, 'utf8')
    const from = await pgliteSql({ folder })
    const to = nodePostgresSql({ connectionString: reveal(settings.database_url) })
    try {
      await prepareDatabase(from, schemaText, { patienceMs: PATIENCE_MS, log, saltKeys: settings })
      await prepareDatabase(to, schemaText, { patienceMs: PATIENCE_MS, log, saltKeys: {} })
      const isCopied = await copyDatabase(from, to, (table, rows) => print(`${table} ${rows}\n`))
      if (!isCopied) throw new Error('A gateway has been started on the database of DATABASE_URL. Name an empty one.')
    } finally {
      await Promise.all([from.close(), to.close()])
    }
    return 0
  })
}
