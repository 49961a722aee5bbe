import { totalmem } from 'node:os'

const MEBIBYTE = 1024 * 1024

/** What a process needs: of it the embedded database takes the larger part. */
const NEEDED_EMBEDDED = 512 * MEBIBYTE
const NEEDED_ALONE = 192 * MEBIBYTE

/** The memory of the container, or of the machine. */
export function memoryLimit(): { readonly bytes: number; readonly of: 'container' | 'machine' } {
  const confined = process.constrainedMemory()
  return confined > 0 && confined < totalmem()
    ? { bytes: confined, of: 'container' }
    : { bytes: totalmem(), of: 'machine' }
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
