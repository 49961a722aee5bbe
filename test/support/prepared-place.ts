import { join } from 'node:path'
import { inject } from 'vitest'
import { type Place, place } from '../runtimes/node/gateway-process.ts'
import { preparedDatabaseIn } from './embedded-database.node.ts'
import { preparedDatabase } from './prepared-database.ts'

/** A place whose database was set up before: on the server, where this machine has one. A gateway that opens the embedded
 *  one takes three times the processor time to start, and twice the memory. */
export async function preparedPlace(): Promise<Place> {
  const here = await place()
  const server = inject('postgresUrl')
  if (!server) {
    await preparedDatabaseIn(join(here.folder, 'data/postgres'))
    return here
  }
  const database = await preparedDatabase(server)
  const start: Place['start'] = (options) =>
    here.start({ ...options, env: { DATABASE_URL: database, ...options?.env } })
  return { ...here, start }
}
