import { randomBytes } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Disk space for the end of a process. */
export interface Reserve {
  /** Frees the space; returns whether there was any. */
  free(): boolean
  /** Resolves when the space is taken, or could not be. */
  readonly ready: Promise<unknown>
}

/** Takes disk space with a file, beside everything else, if it is not there yet. Where the disk has no room for it, there
 *  is none. */
export function reserve(path: string, bytes: number): Reserve {
  const size = () => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  async function make(): Promise<void> {
    if (size() === bytes) return
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    // Nothing that a file system could compress.
    await writeFile(path, randomBytes(bytes), { mode: 0o600 })
  }
  function free(): boolean {
    try {
      const had = size() > 0
      rmSync(path, { force: true })
      return had
    } catch {
      return false
    }
  }
  return { free, ready: make().catch(free) }
}
