import { join } from 'node:path'
import { type Place, place } from '../runtimes/node/gateway-process.ts'
import { emptyDatabaseIn } from './embedded-database.node.ts'

/** A place whose embedded database was set up before. */
export async function preparedPlace(): Promise<Place> {
  const here = await place()
  await emptyDatabaseIn(join(here.folder, 'data/postgres'))
  return here
}
