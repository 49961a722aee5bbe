import { DatabaseSync } from 'node:sqlite'

/** Takes the file for this process, or throws naming the process that has it. The operating system holds the lock (a
 *  SQLite transaction that never ends), so a process that dies in any way has let go of it, no two processes can win a
 *  race for it, and a process id that was given out again means nothing. The file stays; only the lock on it counts. */
export function lockFile(path: string): () => void {
  const file = new DatabaseSync(path)
  try {
    // Readers get past a reserved lock, so that the loser of a race can read who won it.
    file.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${process.pid}; COMMIT; BEGIN IMMEDIATE`)
  } catch (error) {
    const holder = holderOf(file)
    file.close()
    if (holder === undefined) throw error
    throw new Error(`${path} is held by process ${holder}. Stop that process, or choose another folder for this one.`)
  }
  return () => file.close()
}

function holderOf(file: DatabaseSync): number | undefined {
  try {
    return Number(file.prepare('PRAGMA user_version').get()?.user_version)
  } catch {
    return undefined
  }
}
