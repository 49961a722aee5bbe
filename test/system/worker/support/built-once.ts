import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { madeOnce } from '../../../support/made-once.ts'
import { buildWorkerModules, type WorkerModules } from './worker-modules.ts'

/** The worker's modules, built once in a run of the tests. */
export async function workerModules(): Promise<WorkerModules> {
  const folder = await madeOnce('worker', async (shared) => {
    await writeFile(join(shared, 'modules.json'), JSON.stringify(await buildWorkerModules()))
  })
  return JSON.parse(await readFile(join(folder, 'modules.json'), 'utf8'))
}
