export interface StreamSeen {
  readonly type: string
  /** What each read brought, in milliseconds after the request. */
  readonly pieces: readonly { readonly atMs: number; readonly text: string }[]
  readonly endMs: number
}

/** What the gateway measured of the same call. */
export interface StreamMade {
  readonly firstMs: number
  readonly totalMs: number
}

/** A stream that takes less is no proof: a machine may read all of it at once. */
const TELLING_MS = 300
/** If it is unknown when the parts were made: an answer that takes this long and comes in one piece was held back. */
const HELD_MS = 1500

/** Judges a streamed chat by the order of what came and when: whether it is whole, and whether something in between
 *  kept it back. */
export function judgeStream(
  { type, pieces, endMs }: StreamSeen,
  made: StreamMade | undefined,
  heldBackMs: number,
): { readonly ok: boolean; readonly detail: string } {
  const text = pieces.map((piece) => piece.text).join('')
  const events = text.split('\n').filter((line) => line.startsWith('data:')).length
  if (!type.includes('text/event-stream')) return { ok: false, detail: `its type is ${type}` }
  if (!/"content":\s*"[^"]/.test(text)) return { ok: false, detail: 'there is no content in it' }
  if (!/data: ?\[DONE\]\s*$/.test(text)) return { ok: false, detail: 'it does not end with [DONE]' }

  const firstMs = pieces.find((piece) => piece.text.includes('data:'))?.atMs ?? endMs
  const spreadMs = endMs - firstMs
  const words = `${events} events in ${pieces.length} reads, the first after ${ms(firstMs)}, the end after ${ms(endMs)}`
  if (made) {
    const madeOverMs = made.totalMs - made.firstMs
    if (firstMs - made.firstMs > heldBackMs) {
      return { ok: false, detail: `${words}; the gateway had the first after ${ms(made.firstMs)}` }
    }
    if (madeOverMs < TELLING_MS) return { ok: true, detail: `${words}; too short to show whether anything buffers` }
    if (spreadMs < madeOverMs / 4) {
      return { ok: false, detail: `${words}; the gateway had it over ${ms(madeOverMs)}: something in between buffers` }
    }
    return { ok: true, detail: words }
  }
  if (pieces.length > 2 && spreadMs >= TELLING_MS) return { ok: true, detail: words }
  if (endMs >= HELD_MS && spreadMs < endMs / 10) {
    return { ok: false, detail: `${words}: something in between buffers` }
  }
  return { ok: true, detail: `${words}; too short to show whether anything buffers` }
}

const ms = (value: number) => `${Math.round(value)} ms`
