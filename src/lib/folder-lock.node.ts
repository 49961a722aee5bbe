import { readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Locks a folder for this process. Throws if another process holds it. */
export function lockFolder(folder: string): () => void {
  const unlock = tryLockFolder(folder)
  if (unlock) return unlock
  throw new Error(`${folder} is held by process ${holderOf(folder)}. Stop that one, or give this one another folder.`)
}

/** Locks a folder for this process; undefined if another process holds it. The lock is an open SQLite transaction on
 *  `<folder>.lock`. The operating system releases it when the process ends in any way, and exactly one process gets it;
 *  reused process ids have no effect. `<folder>.pid` only serves the error message. Both files stay. */
export function tryLockFolder(folder: string): (() => void) | undefined {
  const lock = new DatabaseSync(`${folder}.lock`)
  try {
    lock.exec('BEGIN IMMEDIATE')
  } catch (error) {
    lock.close()
    if (isBusy(error)) return undefined
    throw error
  }
  writeFileSync(`${folder}.pid`, String(process.pid))
  return () => lock.close()
}

function isBusy(error: unknown): boolean {
  const SQLITE_BUSY = 5
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}

function holderOf(folder: string): string {
  try {
    return readFileSync(`${folder}.pid`, 'utf8') || 'unknown'
  } catch {
    return 'unknown'
  }
}
