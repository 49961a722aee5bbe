import { join } from 'node:path'
import { type Place, place } from '../runtimes/node/gateway-process.ts'
import { preparedDatabaseIn } from './embedded-database.node.ts'

/** A place whose embedded database was set up before. */
export async function preparedPlace(): Promise<Place> {
  const here = await place()
  await preparedDatabaseIn(join(here.folder, 'data/postgres'))
  return here
}
