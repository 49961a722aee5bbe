/** Storage outside of memory for bytes that may be read again. */
export interface Scratch {
  append(bytes: Uint8Array): Promise<void>
  /** Reads at least one byte from `position` on, at most `limit`. */
  read(position: number, limit: number): Promise<Uint8Array>
  close(): void
}

/** A body that can be read once. */
export interface Source {
  /** Resolves with the bytes since the last read; undefined at the end. */
  read(): Promise<Uint8Array | undefined>
  /** Ends reading. */
  close(): void
}

/** Keeps the bytes of a source, for readers that restart at the first byte. */
export interface Spool {
  readonly received: number
  readonly ended: boolean
  /** Whether all but the newest bytes leave the memory: there is scratch storage, and it has not failed. */
  readonly movesOut: boolean
  /** False once the first bytes have been dropped. */
  readonly repeatable: boolean
  /** Reads the next bytes; undefined at the end. Simultaneous reads get the same bytes. */
  pull(): Promise<Uint8Array | undefined>
  /** Reads at least one received byte from `position` on, and none from `end` on. */
  read(position: number, end: number): Promise<Uint8Array>
  /** Reports that the reader needs nothing before `position`, unless it restarts. */
  passed(position: number): void
  close(): void
}

/** With scratch storage: the bytes that stay in memory. A shorter body is never written to it. */
const WINDOW_BYTES = 4 * 1024 * 1024
/** Without scratch storage: the bytes that stay in memory. A larger body can be sent only once. */
const KEPT_BYTES = 16 * 1024 * 1024
const READ_BYTES = 256 * 1024

/** The most of a body that stays in memory once it is read. */
export const spoolMemoryBytes = ({ movesOut }: Pick<Spool, 'movesOut'>) => (movesOut ? WINDOW_BYTES : KEPT_BYTES)

interface Kept {
  readonly start: number
  readonly bytes: Uint8Array
}

export function spool(source: Source, newScratch: (() => Promise<Scratch>) | undefined): Spool {
  /** The bytes from `first` to `received`, without a gap. Earlier ones are in the scratch storage, or dropped. */
  const kept: Kept[] = []
  let first = 0
  let received = 0
  let ended = false
  let closed = false
  let lost = false
  let scratch: Scratch | undefined
  let mayScratch = newScratch !== undefined
  let pulling: Promise<Uint8Array | undefined> | undefined
  let keptBytes = KEPT_BYTES
  let begun = false

  async function next(): Promise<Uint8Array | undefined> {
    const bytes = await source.read()
    if (bytes === undefined) {
      ended = true
      return undefined
    }
    kept.push({ start: received, bytes })
    received += bytes.byteLength
    if (mayScratch) await moveOut()
    return bytes
  }

  /** Moves the oldest bytes beyond the limit to the scratch storage. If that fails, everything stays in memory. */
  async function moveOut(): Promise<void> {
    try {
      while (received - first > WINDOW_BYTES && kept.length > 1 && !closed) {
        scratch ??= await newScratch?.()
        const [oldest] = kept
        if (!scratch || !oldest) return
        await scratch.append(oldest.bytes)
        dropOldest()
      }
    } catch {
      mayScratch = false
    }
  }

  function closeScratch(): void {
    scratch?.close()
    scratch = undefined
  }

  function dropOldest(): void {
    const oldest = kept.shift()
    if (oldest) first = oldest.start + oldest.bytes.byteLength
  }

  return {
    get received() {
      return received
    },
    get ended() {
      return ended
    },
    get movesOut() {
      return mayScratch
    },
    get repeatable() {
      return !lost
    },
    pull() {
      if (ended) return Promise.resolve(undefined)
      pulling ??= next().finally(() => {
        pulling = undefined
        if (closed) closeScratch()
      })
      return pulling
    },
    async read(position, end) {
      if (position < first) {
        if (lost || !scratch) throw new RangeError('these bytes were dropped')
        return scratch.read(position, Math.min(end, first, position + READ_BYTES) - position)
      }
      const piece = kept.findLast(({ start }) => start <= position)
      if (!piece) throw new RangeError('these bytes have not arrived')
      return piece.bytes.subarray(position - piece.start, end - piece.start)
    },
    passed(position) {
      // The bytes that arrived before the first reader began are in memory anyway.
      if (!begun) keptBytes = Math.max(keptBytes, received)
      begun = true
      if (mayScratch) return
      for (let oldest = kept[0]; oldest && received - first > keptBytes; oldest = kept[0]) {
        if (oldest.start + oldest.bytes.byteLength > position) return
        lost = true
        dropOldest()
      }
    },
    close() {
      closed = true
      kept.length = 0
      first = received
      lost = true
      source.close()
      // A running write ends first.
      if (!pulling) closeScratch()
    },
  }
}
