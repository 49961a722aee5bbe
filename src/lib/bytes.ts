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
