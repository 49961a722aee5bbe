/** A piece of fewer bytes costs less to copy than to send by itself. */
const SHORT_BYTES = 16_384

/** The same bytes in fewer pieces: short neighbours become one, long pieces are not copied. */
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

/** Several pieces as one, without a copy when there is only one. */
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
