import type { Frame } from '../../../lib/bytes/sse.ts'

/** Inside a string of JSON its quotes would be escaped, so it is always a member. */
const NULL_USAGE = /,\s*"usage":\s*null(?=\s*[,}])/g

/** The bytes of events without the empty usage that a vendor writes into every chunk once it is asked for the last one.
 *  A client that did not ask may know no such member. */
export function withoutNullUsage({ bytes, text }: Frame): Uint8Array {
  if (!text.includes('"usage":')) return bytes
  const kept: Uint8Array[] = []
  let from = 0
  let length = 0
  for (const { index, 0: member } of text.matchAll(NULL_USAGE)) {
    kept.push(bytes.subarray(from, index))
    length += index - from
    from = index + member.length
  }
  if (from === 0) return bytes
  kept.push(bytes.subarray(from))
  const rest = new Uint8Array(length + bytes.length - from)
  let at = 0
  for (const piece of kept) {
    rest.set(piece, at)
    at += piece.length
  }
  return rest
}
