/** Bytes that are read piece by piece, at the pace of the consumer. */
export interface Pieces {
  /** Resolves with the next piece, never an empty one; undefined at the end. Rejects if the rest cannot be read. */
  read(): Promise<Uint8Array | undefined>
  /** The number of all bytes; undefined if it is not known in advance. */
  readonly length: number | undefined
}

export function piecesOf(bytes: Uint8Array): Pieces {
  let left: Uint8Array | undefined = bytes.byteLength > 0 ? bytes : undefined
  return {
    length: bytes.byteLength,
    async read() {
      const piece = left
      left = undefined
      return piece
    },
  }
}

/** Joins pieces in order. A function is called when the pieces before it have been read. */
export function joinPieces(
  list: readonly (Pieces | (() => Promise<Pieces>))[],
  length: number | undefined = lengthOf(list),
): Pieces {
  let at = 0
  let open: Pieces | undefined
  return {
    length,
    async read() {
      for (;;) {
        const next = list[at]
        if (next === undefined) return undefined
        open ??= typeof next === 'function' ? await next() : next
        const piece = await open.read()
        if (piece !== undefined) return piece
        at += 1
        open = undefined
      }
    },
  }
}

function lengthOf(list: readonly (Pieces | (() => Promise<Pieces>))[]): number | undefined {
  return list.reduce<number | undefined>((sum, one) => {
    if (sum === undefined || typeof one === 'function' || one.length === undefined) return undefined
    return sum + one.length
  }, 0)
}
