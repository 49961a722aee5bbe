/** Space outside of memory for bytes that may be read again. */
export interface Scratch {
  append(bytes: Uint8Array): Promise<void>
  /** At least one byte from `position` on, at most `limit`. */
  read(position: number, limit: number): Promise<Uint8Array>
  close(): void
}

/** A body that can be read once. */
export interface Source {
  /** What has come since the last read; undefined at the end. */
  read(): Promise<Uint8Array | undefined>
  /** Ends reading. */
  close(): void
}

/** Keeps the bytes of a source, for readers that restart at the first byte. */
export interface Spool {
  readonly received: number
  readonly ended: boolean
  /** False from the moment that the first bytes had to be let go. */
  readonly repeatable: boolean
  /** Reads the next bytes; undefined at the end. Simultaneous reads get the same bytes. */
  pull(): Promise<Uint8Array | undefined>
  /** At least one of the bytes from `position` on, which have come, and none from `end` on. */
  read(position: number, end: number): Promise<Uint8Array>
  /** The reader needs nothing before `position`, unless it begins again. */
  passed(position: number): void
  close(): void
}

/** Where there is scratch room: what stays in memory of a recording; a short one never leaves it. */
const WINDOW_BYTES = 4 * 1024 * 1024
/** Where there is none: as much as some calls at a time may hold in a small process. A larger body is sent only once. */
const KEPT_BYTES = 16 * 1024 * 1024
const READ_BYTES = 256 * 1024

/** The most of a body that stays in memory. */
export const spoolMemoryBytes = (scratch: unknown) => (scratch === undefined ? KEPT_BYTES : WINDOW_BYTES)

interface Kept {
  readonly start: number
  readonly bytes: Uint8Array
}

export function spool(source: Source, newScratch: (() => Promise<Scratch>) | undefined): Spool {
  /** From `first` to `received`, without a gap. What is before `first` is in the scratch room, or gone. */
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

  /** Moves what is too much for memory out, the oldest first. Where that fails, memory has to do. */
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

  function giveRoomBack(): void {
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
    get repeatable() {
      return !lost
    },
    pull() {
      if (ended) return Promise.resolve(undefined)
      pulling ??= next().finally(() => {
        pulling = undefined
        if (closed) giveRoomBack()
      })
      return pulling
    },
    async read(position, end) {
      if (position < first) {
        if (lost || !scratch) throw new RangeError('these bytes were let go')
        return scratch.read(position, Math.min(end, first, position + READ_BYTES) - position)
      }
      const piece = kept.findLast(({ start }) => start <= position)
      if (!piece) throw new RangeError('these bytes have not come')
      return piece.bytes.subarray(position - piece.start, end - piece.start)
    },
    passed(position) {
      // What a reader found here when it began cost its memory already.
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
      // What is just being written there ends first.
      if (!pulling) giveRoomBack()
    },
  }
}
