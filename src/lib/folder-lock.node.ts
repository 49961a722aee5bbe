import { readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Another process holds a folder. */
export class FolderHeldError extends Error {
  override readonly name = 'FolderHeldError'
  readonly holder: string

  constructor(folder: string) {
    const holder = holderOf(folder)
    super(`${folder} is held by process ${holder}. Stop that one, or give this one another folder.`)
    this.holder = holder
  }
}

/** Locks a folder for this process. Throws if another process holds it. */
export function lockFolder(folder: string): () => void {
  const unlock = tryLockFolder(folder)
  if (unlock) return unlock
  throw new FolderHeldError(folder)
}

/** Locks a folder for this process; undefined if another process holds it. The lock is an open SQLite transaction on
 *  `<folder>.lock`. The operating system releases it when the process ends in any way, and exactly one process gets it;
 *  reused process ids have no effect. `<folder>.pid` only serves the error message. Both files stay. */
export function tryLockFolder(folder: string): (() => void) | undefined {
  const path = `${folder}.lock`
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(path)
    lock.exec('BEGIN IMMEDIATE')
  } catch (error) {
    lock?.close()
    const { errcode } = error as { readonly errcode?: number }
    if (errcode === SQLITE_BUSY) return undefined
    // As the file system itself would say it.
    const code = ON_DISK[(errcode ?? 0) & 0xff]
    throw code === undefined ? error : Object.assign(new Error(`${path}: ${code}`), { code, path })
  }
  const held = lock
  writeFileSync(`${folder}.pid`, String(process.pid))
  return () => held.close()
}

const SQLITE_BUSY = 5
/** SQLite's names for a file that may not be written, a disk without room, and a file that may not be opened. */
const ON_DISK: Readonly<Record<number, string>> = { 8: 'EACCES', 13: 'ENOSPC', 14: 'EACCES' }

function holderOf(folder: string): string {
  try {
    return readFileSync(`${folder}.pid`, 'utf8') || 'unknown'
  } catch {
    return 'unknown'
  }
}
