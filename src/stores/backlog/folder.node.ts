import { mkdirSync, readdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { tryLockFolder } from '../../lib/folder-lock.node.ts'
import { describeError, type Log, throttled } from '../../lib/log.ts'
import type { Backlogs } from './backlog.ts'
import { reserve } from './reserve.node.ts'
import { isSegment, type Segments, segments, topicOf } from './segments.node.ts'

export interface FolderBacklogsOptions {
  readonly folder: string
  /** The approximate limit of all processes together, which each checks with every new file. 0 stores nothing. */
  readonly maxBytes: number
  /** Topics that may use the reserved space, because they must not be lost. */
  readonly reserved: ReadonlySet<string>
  readonly log: Log
}

/** The disk space for records that wait in memory when a process ends on a full disk: some five thousand calls, or the
 *  sums of any number. */
const ROOM_BYTES = 8 * 1024 * 1024

/** The reserved space, as a share of the limit. */
const RESERVE = 1 / 16
const LOG_EVERY_MS = 60_000

/** Backlogs in files. Each process locks a folder of its own under `folder` while it lives, and takes over the files in
 *  unlocked folders. */
export function folderBacklogs({ folder, maxBytes, reserved, log }: FolderBacklogsOptions): Backlogs {
  const topics = new Map<string, Segments>()
  const room = maxBytes > 0 ? reserve(`${folder}.reserve`, ROOM_BYTES) : undefined
  let own: { readonly path: string; readonly unlock: () => void } | undefined

  let lastError = ''
  const logFailure = throttled(LOG_EVERY_MS, Date.now, (suppressed) =>
    log.error('backlog.failed', { folder, error: lastError, suppressed }),
  )
  function failed(error: unknown): void {
    lastError = describeError(error)
    logFailure()
  }

  /** The folder of this process: the first unlocked one, created if needed. */
  function place(): string {
    for (let number = 0; !own; number++) {
      const path = join(folder, String(number))
      mkdirSync(path, { recursive: true, mode: 0o700 })
      const unlock = tryLockFolder(path)
      if (unlock) own = { path, unlock }
      if (unlock) take(segmentsIn(path))
    }
    return own.path
  }

  function adoptFrom(path: string): void {
    const unlock = tryLockFolder(path)
    if (!unlock) return
    if (!own) {
      own = { path, unlock }
      take(segmentsIn(path))
      return
    }
    try {
      for (const file of segmentsIn(path)) {
        renameSync(join(path, file), join(own.path, file))
        take([file])
      }
    } finally {
      unlock()
    }
  }

  function take(files: readonly string[]): void {
    for (const file of files) topicNamed(topicOf(file)).adopt(file)
  }

  function topicNamed(topic: string): Segments {
    const found = topics.get(topic)
    if (found) return found
    const limit = maxBytes * (reserved.has(topic) ? 1 + RESERVE : 1)
    const made = segments(topic, { place, failed, limit, used: () => bytesIn(folder) })
    topics.set(topic, made)
    return made
  }

  return {
    of: topicNamed,
    makeRoom: () => room?.free() === true,
    adopt() {
      try {
        for (const path of foldersIn(folder)) {
          if (path !== own?.path && segmentsIn(path).length > 0) adoptFrom(path)
        }
      } catch (error) {
        failed(error)
      }
    },
    async close() {
      await Promise.all([room?.ready, ...[...topics.values()].map((one) => one.close())])
      own?.unlock()
      own = undefined
    },
  }
}

function foldersIn(folder: string): string[] {
  return namesIn(folder)
    .filter((name) => /^\d+$/.test(name))
    .map((name) => join(folder, name))
}

const segmentsIn = (path: string) => namesIn(path).filter(isSegment).sort()

function namesIn(path: string): string[] {
  try {
    return readdirSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function bytesIn(folder: string): number {
  return foldersIn(folder)
    .flatMap((path) => segmentsIn(path).map((file) => statSync(join(path, file), { throwIfNoEntry: false })?.size ?? 0))
    .reduce((sum, size) => sum + size, 0)
}
