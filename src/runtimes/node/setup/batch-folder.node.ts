import { randomUUID } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { describeError, type Log, throttled } from '../../../lib/log.ts'
import { atMost } from '../../../lib/timers/at-most.ts'
import type { Blobs } from '../../../stores/blobs/blobs.ts'
import { folderBlobs } from '../../../stores/blobs/folder.node.ts'
import { type FolderClaims, isClaimOf } from '../../../stores/sql/batches/folder-claims.ts'

const RENEW_MS = 15_000
/** A claim that nobody has renewed for so long is stale. */
const STALE_MS = 60_000
const RELEASE_MS = 1000

/** A folder with the files of batches that several gateways may run: its gateways use it as long as no folder of another
 *  gateway on this database is in use. What one folder has is absent in the other, where requests would be lost. */
export interface BatchFolder extends Blobs {
  isUsable(): boolean
  close(): Promise<void>
}

export function batchFolder(
  folder: string,
  { claims, log, now = () => performance.now() }: { claims: FolderClaims; log: Log; now?: () => number },
): BatchFolder {
  const blobs = folderBlobs(folder)
  let id: string | undefined
  let isUsable = false
  let other: { readonly claim: string; readonly since: number } | undefined
  const report = throttled(STALE_MS, now, () =>
    log.error('batch.folder_not_shared', {
      folder: resolve(folder),
      error:
        'another gateway on this database has files of batches in another folder: set general_settings.blob_storage, or let all gateways share this folder',
    }),
  )

  async function look(): Promise<void> {
    id ??= await idOf(folder)
    const stale = other && now() - other.since > STALE_MS ? other.claim : undefined
    const claim = await claims.claim(id, stale)
    isUsable = isClaimOf(id, claim)
    if (isUsable) other = undefined
    else {
      if (other?.claim !== claim) other = { claim, since: now() }
      report()
    }
  }
  let pending: Promise<void> | undefined
  function looking(): Promise<void> {
    pending ??= look()
      .catch((error) => {
        // What was known stays, but not since when the other claim was not renewed.
        other = undefined
        log.warn('batch.folder_not_claimed', { error: describeError(error) })
      })
      .finally(() => {
        pending = undefined
      })
    return pending
  }
  void looking()
  const renewing = setInterval(looking, RENEW_MS).unref()

  async function use<Result>(work: () => Promise<Result>): Promise<Result> {
    if (!isUsable) await looking()
    if (!isUsable) throw new Error('The folder of batches is not in use: batch.folder_not_shared says why.')
    return work()
  }

  return {
    put: (...blob) => use(() => blobs.put(...blob)),
    get: (...blob) => use(() => blobs.get(...blob)),
    remove: (key) => use(() => blobs.remove(key)),
    isUsable: () => isUsable,
    async close() {
      clearInterval(renewing)
      await pending
      // A database that is away cannot be told; then the claim becomes stale.
      if (id !== undefined && isUsable)
        await atMost(
          RELEASE_MS,
          claims.release(id).catch(() => {}),
        )
    },
  }
}

/** The id of a folder, which its first gateway gives it. No key holds `~`. */
async function idOf(folder: string): Promise<string> {
  const path = join(folder, '~id')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(path, randomUUID(), { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  return readFile(path, 'utf8')
}
