import { readFileSync, statfsSync } from 'node:fs'

/** Why the embedded database cannot be opened, and what to do, in words for the operator. */
export class NotOpened extends Error {
  override readonly name = 'NotOpened'
}

/** The release of PostgreSQL that PGlite is made of. It opens no database of another one. */
export const POSTGRES_MAJOR = 18

/** How the file system inside of PGlite numbers what the disk answers. */
const ERRNO: Readonly<Record<number, string>> = { 2: 'EACCES', 51: 'ENOSPC', 63: 'EPERM', 69: 'EROFS' }

const ELSEWHERE = 'set GATEWAY_DATA_DIR to another one'

/** Throws where a folder has a database of another PostgreSQL. */
export function requireSameMajor(path: string): void {
  const made = readFileSync(`${path}/PG_VERSION`, 'utf8').trim()
  if (made === String(POSTGRES_MAJOR)) return
  throw new NotOpened(
    `The embedded database in ${path} was made by PostgreSQL ${made}, and this build has ${POSTGRES_MAJOR}. Start the build that made it (its \`export\` and the \`import\` of this one take the records over), or ${ELSEWHERE}.`,
  )
}

/** Whether it is the disk that refuses. */
export function isOfTheDisk(error: unknown): boolean {
  return codeOf(error) !== undefined
}

export function whyNotOpened(path: string, error: unknown): NotOpened {
  if (error instanceof NotOpened) return error
  const code = codeOf(error) ?? (hasNoRoom(path) ? 'ENOSPC' : undefined)
  const at = `The embedded database in ${path} cannot be opened: `
  if (code === 'ENOSPC')
    return new NotOpened(`${at}the disk has no room left. Make some, 100 MB at least, or ${ELSEWHERE}.`)
  if (code !== undefined) {
    return new NotOpened(
      `${at}this user may not write all files in it (${code}). Give them to the user that runs the gateway (chown -R), or ${ELSEWHERE}.`,
    )
  }
  const { message = String(error) } = error as { readonly message?: string }
  if (/too many open files/i.test(message))
    return new NotOpened(`${at}this process may not open more files. Raise its limit (ulimit -n, LimitNOFILE).`)
  return new NotOpened(`${at}its files are damaged (${message}). Restore the folder from a backup, or ${ELSEWHERE}.`)
}

/** What the database writes while it starts after a killed process, at least: where it cannot, it aborts without a word. */
const LEAST_ROOM = 16 * 1024 ** 2

function hasNoRoom(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize < LEAST_ROOM
  } catch {
    return false
  }
}

function codeOf(error: unknown): string | undefined {
  const { code, errno } = Object(error) as { readonly code?: unknown; readonly errno?: unknown }
  const known = Object.values(ERRNO)
  if (typeof code === 'string') return known.find((one) => one === code)
  return typeof errno === 'number' ? ERRNO[errno] : undefined
}
