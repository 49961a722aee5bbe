import { joinBytes } from '../bytes/bytes.ts'
import { membersOf } from './json-members.ts'
import { sourceOf } from './lazy-json.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const [COMMA, CLOSE] = [encoder.encode(','), encoder.encode(']')]

/** A value that is written as JSON already. Where it stands in the place of a value, `editJson` copies its bytes. */
export interface WrittenJson {
  toJSON(): unknown
}

const written = new WeakMap<object, readonly Uint8Array[]>()

function writtenJson(pieces: readonly Uint8Array[]): WrittenJson {
  const value = { toJSON: () => JSON.parse(decoder.decode(joinBytes(pieces))) }
  written.set(value, pieces)
  return value
}

/** The JSON of a value. */
export function jsonPieces(value: unknown): readonly Uint8Array[] {
  const pieces = typeof value === 'object' && value !== null ? written.get(value) : undefined
  return pieces ?? [encoder.encode(JSON.stringify(value))]
}

/** Reads members as the bytes write them. undefined for a member that is absent or null. */
export type WrittenMembers = (key: string) => Uint8Array | undefined

/** The members of the object that `parsed` was read from. */
export function writtenMembers(bytes: Uint8Array, parsed: Readonly<Record<string, unknown>>): WrittenMembers {
  const members = sourceOf(parsed)?.members ?? membersOf(bytes)
  return (key) => {
    if (!members) {
      // Escaped or repeated keys: what was read of them counts.
      const value = Object.hasOwn(parsed, key) ? parsed[key] : undefined
      return value === undefined || value === null ? undefined : encoder.encode(JSON.stringify(value))
    }
    const member = members.find((one) => one.key === key)
    const value = member && bytes.subarray(member.valueStart, member.valueEnd)
    // Nothing else begins like null.
    return value?.[0] === 0x6e ? undefined : value
  }
}

export const isWrittenEmptyText = (value: Uint8Array): boolean => value[0] === 0x22 && value[1] === 0x22

export const isWrittenList = (value: Uint8Array): boolean => value[0] === 0x5b

/** A written list with items before its own. */
export function withFirst(items: readonly unknown[], list: Uint8Array): WrittenJson {
  const own = list.subarray(1, -1)
  const isEmpty = own.every((byte) => byte <= 32)
  const first = encoder.encode(JSON.stringify(items).slice(0, -1))
  return writtenJson(isEmpty ? [first, CLOSE] : [first, COMMA, own, CLOSE])
}

/** A list of items, the last of which holds a written value. */
export function withLast(items: readonly unknown[], before: string, value: Uint8Array, after: string): WrittenJson {
  const first = JSON.stringify(items).slice(0, -1)
  const separator = items.length === 0 ? '' : ','
  return writtenJson([encoder.encode(`${first}${separator}${before}`), value, encoder.encode(`${after}]`)])
}

/** A written string with a text before its own. */
export function withTextBefore(text: string, value: Uint8Array): WrittenJson {
  return writtenJson([encoder.encode(JSON.stringify(text).slice(0, -1)), value.subarray(1)])
}
