import { gatherBytes } from '../bytes/bytes.ts'
import { countMembers, membersOf } from './json-members.ts'
import { sourceOf } from './lazy-json.ts'

const encoder = new TextEncoder()
const COMMA = encoder.encode(',')

/** Changes top-level members of a JSON object, leaving every other byte as the client wrote it. `undefined` removes.
 *  `parsed` is what was read from the same bytes, and all that a reader can find in the result: of a repeated member, of
 *  which parsers read different ones, nothing else stays. What is long is not copied: the result comes in pieces. */
export function editJson(
  bytes: Uint8Array,
  parsed: Readonly<Record<string, unknown>>,
  changes: Readonly<Record<string, unknown>>,
): readonly Uint8Array[] {
  const unchanged = isEmpty(changes)
  const source = sourceOf(parsed)
  const known = source?.bytes === bytes ? source.members : undefined
  // As many members as were read: none is repeated, and nothing has to be found among them.
  if (unchanged && !known && countMembers(bytes) === sizeOf(parsed)) return [bytes]
  const members = known ?? membersOf(bytes)
  if (!members) {
    // Escaped or repeated keys, which no client's encoder writes: the plain way is good enough.
    return [encoder.encode(JSON.stringify({ ...parsed, ...changes }))]
  }
  if (unchanged) return [bytes]
  // A client may call a member `valueOf` or `constructor`: only what the changes hold themselves is changed.
  const changed = (key: string) => Object.hasOwn(changes, key)
  const isMember = (key: string) => members.some((member) => member.key === key)
  const added = Object.keys(changes).filter((key) => changes[key] !== undefined && !isMember(key))
  const headEnd = members[0]?.start ?? bytes.indexOf(0x7b) + 1
  const tailStart = members.at(-1)?.valueEnd ?? headEnd

  const pieces = [bytes.subarray(0, headEnd)]
  const written = added.map((key) => `${JSON.stringify(key)}:${JSON.stringify(changes[key])}`).join(',')
  if (written !== '') pieces.push(encoder.encode(written))
  /** The place of the last member that stayed. */
  let last = -1
  for (const [index, { key, start, valueStart, valueEnd }] of members.entries()) {
    if (changed(key) && changes[key] === undefined) continue
    const before = members[last]
    if (before) pieces.push(last === index - 1 ? bytes.subarray(before.valueEnd, start) : COMMA)
    else if (written !== '') pieces.push(COMMA)
    if (changed(key)) pieces.push(bytes.subarray(start, valueStart), encoder.encode(JSON.stringify(changes[key])))
    else pieces.push(bytes.subarray(start, valueEnd))
    last = index
  }
  pieces.push(bytes.subarray(tailStart))
  return gatherBytes(pieces)
}

function isEmpty(changes: object): boolean {
  for (const _ in changes) return false
  return true
}

function sizeOf(record: object): number {
  let size = 0
  for (const _ in record) size += 1
  return size
}
