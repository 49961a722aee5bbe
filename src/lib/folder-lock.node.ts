import { readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Takes a folder for this process, or throws naming the process that has it. */
export function lockFolder(folder: string): () => void {
  const unlock = tryLockFolder(folder)
  if (unlock) return unlock
  throw new Error(`${folder} is held by process ${holderOf(folder)}. Stop that one, or give this one another folder.`)
}

/** Takes a folder for this process, unless another one has it. The lock is a SQLite transaction on `<folder>.lock` that
 *  never ends: the operating system holds it, so that a process which dies in any way has let go of it, a race has
 *  exactly one winner, and a process id that was given out again means nothing. `<folder>.pid` is only for a sentence.
 *  Both files stay. */
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
