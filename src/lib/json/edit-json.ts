import { gatherBytes } from '../bytes/bytes.ts'
import { countMembers, membersOf } from './json-members.ts'
import { sourceOf } from './lazy-json.ts'
import { jsonPieces } from './written-json.ts'

const encoder = new TextEncoder()
const COMMA = encoder.encode(',')

/** Changes top-level members of a JSON object and leaves all other bytes unchanged. `undefined` removes a member.
 *  `parsed` is the object that was read from the same bytes. Of a repeated member, which parsers read differently, only
 *  the value in `parsed` stays. The result is a list of pieces, so that long values are not copied. */
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
    // Escaped or repeated keys, which usual encoders do not write, are slow.
    return [encoder.encode(JSON.stringify({ ...parsed, ...changes }))]
  }
  if (unchanged) return [bytes]
  // Own members only: the client's object may have members such as `valueOf` or `constructor`.
  const changed = (key: string) => Object.hasOwn(changes, key)
  const isMember = (key: string) => members.some((member) => member.key === key)
  const added = Object.keys(changes).filter((key) => changes[key] !== undefined && !isMember(key))
  const headEnd = members[0]?.start ?? bytes.indexOf(0x7b) + 1
  const tailStart = members.at(-1)?.valueEnd ?? headEnd

  const pieces = [bytes.subarray(0, headEnd)]
  const written = added.map((key) => `${JSON.stringify(key)}:${JSON.stringify(changes[key])}`).join(',')
  if (written !== '') pieces.push(encoder.encode(written))
  /** The index of the last member that stays. */
  let last = -1
  for (const [index, { key, start, valueStart, valueEnd }] of members.entries()) {
    if (changed(key) && changes[key] === undefined) continue
    const before = members[last]
    if (before) pieces.push(last === index - 1 ? bytes.subarray(before.valueEnd, start) : COMMA)
    else if (written !== '') pieces.push(COMMA)
    if (changed(key)) pieces.push(bytes.subarray(start, valueStart), ...jsonPieces(changes[key]))
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
