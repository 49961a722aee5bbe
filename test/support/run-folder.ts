import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'

/** Linux keeps what lies here in memory. */
const IN_MEMORY = '/dev/shm'

/** What a run lays down at its fullest, which is mostly databases. */
const RUN_BYTES = 4 * 1024 ** 3

/** Makes the folder of a run of the tests, in which every process of it, and every process that they start, makes its
 *  temporary ones. It lies in memory where there is twice as much as a run needs: hundreds of databases of a thousand files
 *  each come and go, which costs a file system of a disk much more. */
export async function makeRunFolder(): Promise<{ readonly folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join((await hasRoomInMemory()) ? IN_MEMORY : tmpdir(), 'gateway-tests-'))
  // PostgreSQL's own user passes through it.
  await chmod(folder, 0o711)
  const before = process.env.TMPDIR
  process.env.TMPDIR = folder
  return {
    folder,
    async remove() {
      if (before === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = before
      await rm(folder, { recursive: true, force: true, maxRetries: 20 })
    },
  }
}

async function hasRoomInMemory(): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(IN_MEMORY)
    return Math.min(bavail * bsize, freemem()) >= 2 * RUN_BYTES
  } catch {
    return false
  }
}
