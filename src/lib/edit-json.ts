import { gatherBytes } from './bytes.ts'
import { type Member, membersOf } from './json-members.ts'
import { sourceOf } from './lazy-json.ts'

const encoder = new TextEncoder()
const COMMA = encoder.encode(',')

/** Changes top-level members of a JSON object, leaving every other byte as the client wrote it. `undefined` removes.
 *  `parsed` is what was read from the same bytes. What is long is not copied: the result comes in pieces. */
export function editJson(
  bytes: Uint8Array,
  parsed: Readonly<Record<string, unknown>>,
  changes: Readonly<Record<string, unknown>>,
): readonly Uint8Array[] {
  const members = membersIn(bytes, parsed)
  if (!members) {
    // Escaped or repeated keys, which no client's encoder writes: the plain way is good enough.
    return [encoder.encode(JSON.stringify({ ...parsed, ...changes }))]
  }
  // A client may call a member `valueOf` or `constructor`: only what the changes hold themselves is changed.
  const changed = (key: string) => Object.hasOwn(changes, key)
  const keys = new Set(members.map((member) => member.key))
  const kept = members.filter((member) => !changed(member.key) || changes[member.key] !== undefined)
  const added = Object.keys(changes).filter((key) => changes[key] !== undefined && !keys.has(key))
  const headEnd = members[0]?.start ?? bytes.indexOf(0x7b) + 1
  const tailStart = members.at(-1)?.valueEnd ?? headEnd

  const pieces = [bytes.subarray(0, headEnd)]
  const written = added.map((key) => `${JSON.stringify(key)}:${JSON.stringify(changes[key])}`).join(',')
  if (written !== '') pieces.push(encoder.encode(written))
  for (const [index, member] of kept.entries()) {
    const before = kept[index - 1]
    if (before) {
      const adjacent = members[members.indexOf(member) - 1] === before
      pieces.push(adjacent ? bytes.subarray(before.valueEnd, member.start) : COMMA)
    } else if (written !== '') {
      pieces.push(COMMA)
    }
    if (changed(member.key)) {
      pieces.push(bytes.subarray(member.start, member.valueStart), encoder.encode(JSON.stringify(changes[member.key])))
    } else {
      pieces.push(bytes.subarray(member.start, member.valueEnd))
    }
  }
  pieces.push(bytes.subarray(tailStart))
  return gatherBytes(pieces)
}

function membersIn(bytes: Uint8Array, parsed: object): readonly Member[] | undefined {
  const source = sourceOf(parsed)
  return source?.bytes === bytes ? source.members : membersOf(bytes)
}
