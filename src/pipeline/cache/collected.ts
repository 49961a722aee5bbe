import { EVENTS_TYPE } from '../../lib/bytes/sse.ts'

/** The answer of a call, collected for the cache while the client gets it. */
export interface Collected {
  /** Adds a piece of a stream. */
  add(piece: Uint8Array): void
  /** The whole answer. */
  whole(bytes: Uint8Array, contentType: string): void
  /** The answer; undefined if it is too large or is no text. */
  end(): Whole | undefined
}

interface Whole {
  readonly contentType: string
  readonly body: string
  readonly pieces?: readonly number[]
  /** A whole answer, which is complete even if its client left. */
  readonly whole: boolean
}

/** Collects at most `mostBytes`; a longer answer is dropped as soon as it exceeds them. So is one for which `arrived`,
 *  called before bytes are kept, finds no memory. */
export function collecting(mostBytes: number, arrived: (bytes: number) => void): Collected {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let body = ''
  let bytes = 0
  let pieces: number[] | undefined = []
  let contentType = EVENTS_TYPE
  let whole = false

  function drop(): void {
    pieces = undefined
    body = ''
  }
  function take(piece: Uint8Array, more: boolean): void {
    if (!pieces) return
    bytes += piece.byteLength
    if (bytes > mostBytes) {
      drop()
      return
    }
    try {
      arrived(piece.byteLength)
      body += decoder.decode(piece, { stream: more })
      if (piece.byteLength > 0) pieces.push(piece.byteLength)
    } catch {
      drop()
    }
  }
  return {
    add: (piece) => take(piece, true),
    whole(piece, type) {
      contentType = type
      whole = true
      take(piece, true)
    },
    end() {
      take(NOTHING, false)
      if (!pieces || bytes === 0) return undefined
      return whole ? { contentType, body, whole } : { contentType, body, pieces, whole }
    },
  }
}

const NOTHING = new Uint8Array()
