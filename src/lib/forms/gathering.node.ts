import { joinBytes } from '../bytes/bytes.ts'

/** Memory is set aside for bytes that are declared to be no more than this, before more than their beginning has come. */
const BELIEVED_BYTES = 8 * 1024 * 1024

/** A shorter piece costs more to keep than to copy, and a sender can make a body of nothing else. */
const SHORT_BYTES = 1024
const BLOCK_BYTES = 65_536
/** So few are kept as they are, whatever their length. */
const FEW_PIECES = 16

/** Joins bytes that arrive in pieces. A piece belongs to the gathering, and its giver must not use it again. */
export interface Gathering {
  take(piece: Uint8Array): void
  bytes(): Uint8Array
}

/** `declared` is the announced length, which is not exceeded; NaN if there is none. */
export function gathering(declared: number): Gathering {
  return declared > 0 && declared <= BELIEVED_BYTES ? whole(declared) : inPieces()
}

function inPieces(): Gathering {
  const pieces: Uint8Array[] = []
  /** Where short ones are copied to, and how much of it is filled but not among the pieces. */
  let block = new Uint8Array()
  let filled = 0
  const close = () => {
    if (filled > 0) pieces.push(block.subarray(0, filled))
    block = block.subarray(filled)
    filled = 0
  }
  return {
    take(piece) {
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
    bytes() {
      close()
      return joinBytes(pieces)
    },
  }
}

/** Of known length, filled as it comes. */
function whole(length: number): Gathering {
  let body: Buffer | undefined
  let only: Uint8Array | undefined
  let filled = 0
  let before: Uint8Array | undefined
  return {
    take(piece) {
      if (piece.byteLength === length) {
        only = piece
        return
      }
      body ??= Buffer.allocUnsafeSlow(length)
      body.set(piece, filled)
      filled += piece.byteLength
      // Who delivered the last one may not have let go of it.
      if (before) release(before)
      before = piece
    },
    // Of memory that held something else before, only what was written.
    bytes: () => only ?? body?.subarray(0, filled) ?? new Uint8Array(),
  }
}

/** Frees the memory of bytes that are no longer used. Large ones would otherwise cause the collector to mark the whole heap
 *  repeatedly. */
export function release(bytes: Uint8Array): void {
  const { buffer } = bytes
  if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength) buffer.transfer(0)
}
