/** Bytes that are asked for piece by piece, so that whoever takes them sets the pace. */
export interface Pieces {
  /** The next piece, never an empty one; undefined at the end. A rejection means that the end will not come. */
  read(): Promise<Uint8Array | undefined>
  /** All bytes together, where that is known before they have come. */
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

/** One after the other. What comes late may be decided late: a function is asked when its turn has come. */
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
