import { totalmem } from 'node:os'

const MEBIBYTE = 1024 * 1024

/** The memory that a process needs, with the embedded database and without it. */
const NEEDED_EMBEDDED = 512 * MEBIBYTE
const NEEDED_ALONE = 192 * MEBIBYTE

/** The memory of the container, or of the machine. */
export function memoryLimit(): { readonly bytes: number; readonly of: 'container' | 'machine' } {
  const confined = process.constrainedMemory()
  return confined > 0 && confined < totalmem()
    ? { bytes: confined, of: 'container' }
    : { bytes: totalmem(), of: 'machine' }
}

/** The memory of an idle process. */
const IDLE_EMBEDDED = 256 * MEBIBYTE
const IDLE_ALONE = 128 * MEBIBYTE
/** One part in this many of what is left is for request bodies and unread answers. Each is read, changed and sent
 *  beside that, and the collector is late. */
const SHARE_OF_BODIES = 4
const LEAST_FOR_BODIES = 16 * MEBIBYTE

/** The bytes of request bodies and unread answers for which each process has memory. */
export function roomForBodies(
  limit: ReturnType<typeof memoryLimit>,
  { embedded, processes }: { readonly embedded: boolean; readonly processes: number },
): number {
  const left = limit.bytes / processes - (embedded ? IDLE_EMBEDDED : IDLE_ALONE)
  return Math.max(LEAST_FOR_BODIES, Math.floor(left / SHARE_OF_BODIES))
}

/** Why this memory is too little, and what to do about it; undefined where it is enough. */
export function shortMemory(
  limit: ReturnType<typeof memoryLimit>,
  { embedded, processes }: { readonly embedded: boolean; readonly processes: number },
): string | undefined {
  const needed = (embedded ? NEEDED_EMBEDDED : NEEDED_ALONE) * processes
  if (limit.bytes >= needed) return undefined
  const megabytes = (bytes: number) => `${Math.floor(bytes / MEBIBYTE)} MB`
  const instead = embedded
    ? `, or keep the database elsewhere: DATABASE_URL, which leaves ${megabytes(NEEDED_ALONE)}`
    : processes > 1
      ? ', or start fewer processes (GATEWAY_PROCESSES)'
      : ''
  return `the ${limit.of} has ${megabytes(limit.bytes)}, and ${megabytes(needed)} are needed: raise its limit${instead}`
}
