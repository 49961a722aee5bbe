import { mkdirSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

/** Keeps what every module that is imported from now on was compiled to, types taken off, for the next start: half of
 *  what a start costs. Where nothing can be kept, the gateway starts as well. */
export function cacheCompiled(dataFolder: string): void {
  try {
    // Others could put code of theirs into a folder that they may write to.
    mkdirSync(dataFolder, { recursive: true, mode: 0o700 })
  } catch {
    return
  }
  enableCompileCache(join(dataFolder, 'compiled'))
}
