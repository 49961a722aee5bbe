import { joinBytes } from '../bytes/bytes.ts'

/** Memory is allocated in advance only for a declared length up to this: a client can declare any. */
const TRUSTED_BYTES = 8 * 1024 * 1024

/** Keeping a shorter piece costs more memory than copying it, and a body may consist of nothing else. */
const SHORT_BYTES = 1024
const BLOCK_BYTES = 65_536
/** The first pieces are kept uncopied, whatever their length. */
const FEW_PIECES = 16

/** Joins bytes that arrive in pieces. The gathering owns the pieces: the caller must not use them again. */
export interface Gathering {
  push(piece: Uint8Array): void
  /** What was gathered. It is called once. */
  bytes(): Uint8Array
  /** Frees the gathered bytes. */
  discard(): void
}

/** `declared` is the announced length, which is not exceeded; NaN if there is none. */
export function gathering(declared: number): Gathering {
  return declared > 0 && declared <= TRUSTED_BYTES ? whole(declared) : inPieces()
}

function inPieces(): Gathering {
  const pieces: Uint8Array[] = []
  /** Short pieces are copied here; `filled` is the number of bytes that are not yet among the pieces. */
  let block = new Uint8Array()
  let filled = 0
  const close = () => {
    if (filled > 0) pieces.push(block.subarray(0, filled))
    block = block.subarray(filled)
    filled = 0
  }
  return {
    push(piece) {
      const { byteLength } = piece
      if (byteLength >= SHORT_BYTES || pieces.length < FEW_PIECES) {
        close()
        pieces.push(piece)
        return
      }
      if (filled + byteLength > block.byteLength) {
        close()
        block = new Uint8Array(BLOCK_BYTES)
      }
      block.set(piece, filled)
      filled += byteLength
    },
    // The pieces are dropped here, because the listener that holds them may live as long as the call.
    bytes() {
      close()
      block = new Uint8Array()
      const gathered = pieces.splice(0)
      const joined = joinBytes(gathered)
      if (gathered.length > 1) releaseAll(gathered)
      return joined
    },
    discard: () => releaseAll(pieces.splice(0)),
  }
}

/** A gathering of known length, which copies pieces as they arrive. */
function whole(length: number): Gathering {
  let body: Buffer | undefined
  let only: Uint8Array | undefined
  let filled = 0
  const passed = releasing()
  return {
    push(piece) {
      if (piece.byteLength === length) {
        only = piece
        return
      }
      body ??= Buffer.allocUnsafeSlow(length)
      body.set(piece, filled)
      filled += piece.byteLength
      passed(piece)
    },
    // Only the written part: the allocated memory may hold older data.
    bytes: () => only ?? body?.subarray(0, filled) ?? new Uint8Array(),
    discard() {
      if (body) release(body)
      body = undefined
    },
  }
}

/** Releases the pieces of a source one after the other, but for the last: the source may still use it. */
export function releasing(): (piece: Uint8Array) => void {
  let before: Uint8Array | undefined
  return (piece) => {
    if (before) release(before)
    before = piece
  }
}

/** As `releasing`, of pieces that were kept. */
function releaseAll(pieces: readonly Uint8Array[]): void {
  for (const piece of pieces.slice(0, -1)) release(piece)
}

/** Frees the memory of bytes that are no longer used, if it was not freed before. Large ones would otherwise cause the
 *  collector to mark the whole heap repeatedly. */
export function release(bytes: Uint8Array): void {
  const { buffer, byteLength } = bytes
  if (byteLength > 0 && buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
