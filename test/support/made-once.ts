import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { inject } from 'vitest'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The folder of this run of the tests. */
    runFolder: string
  }
}

/** A folder that is made once in a run of the tests, by whichever file asks first; the others wait for it. Nobody may
 *  change what it holds. */
export async function madeOnce(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(inject('runFolder'), name)
  const made = `${folder}.made`
  for (;;) {
    if (existsSync(made)) return folder
    if (await isFirst(folder)) break
    await wait(20)
  }
  try {
    await make(folder)
    await writeFile(made, '')
    return folder
  } catch (error) {
    // What has failed may still write.
    await rm(folder, { recursive: true, force: true, maxRetries: 20 })
    throw error
  }
}

async function isFirst(folder: string): Promise<boolean> {
  try {
    await mkdir(folder)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
