/** Copying a shorter piece costs less than sending it by itself. */
const SHORT_BYTES = 16_384

/** Joins neighbouring short pieces into one. Long pieces are not copied. */
export function gatherBytes(pieces: readonly Uint8Array[]): Uint8Array[] {
  const gathered: Uint8Array[] = []
  let short: Uint8Array[] = []
  const close = () => {
    if (short.length > 0) gathered.push(joinBytes(short))
    short = []
  }
  for (const piece of pieces) {
    if (piece.byteLength < SHORT_BYTES) {
      short.push(piece)
      continue
    }
    close()
    gathered.push(piece)
  }
  close()
  return gathered
}

/** Joins all pieces into one. A single piece is not copied. */
export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const [first] = pieces
  if (first !== undefined && pieces.length === 1) return first
  let length = 0
  for (const piece of pieces) length += piece.byteLength
  const joined = new Uint8Array(length)
  let offset = 0
  for (const piece of pieces) {
    joined.set(piece, offset)
    offset += piece.byteLength
  }
  return joined
}
