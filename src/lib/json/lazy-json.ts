import { Buffer, isUtf8 } from 'node:buffer'
import { GatewayError } from '../errors.ts'
import { endOfValue, type Member, membersOf, stringsAmong } from './json-members.ts'

/** Members of this many bytes are built when they are first read. */
const LAZY_BYTES = 65_536

const document = new TextDecoder('utf-8', { fatal: true })
// A byte order mark inside a document is invalid.
const inside = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Builds the value that a text writes. Throws if it is invalid. */
export type ParseText = (text: string) => unknown

const PLAIN: ParseText = (text) => JSON.parse(text)

interface Source {
  readonly bytes: Uint8Array
  readonly members: readonly Member[]
  readonly parse: ParseText
  /** Validates a member that was just built. Throws if it is invalid. */
  accept?: (key: string, built: unknown) => void
}

const sources = new WeakMap<object, Source>()

/** JSON.parse of UTF-8 bytes that builds long members of the object when they are first read: a relayed call never
 *  reads its conversation. Reading such a member throws `invalid_request` if it is not valid JSON. */
export function parseLazily(bytes: Uint8Array, parse: ParseText = PLAIN): unknown {
  const members = bytes.byteLength >= 2 * LAZY_BYTES && isUtf8(bytes) ? membersOf(bytes) : undefined
  if (!members) return parse(document.decode(bytes))
  const value: Record<string, unknown> = {}
  const source: Source = { bytes, members, parse }
  for (const { key, valueStart, valueEnd } of members) {
    const written = bytes.subarray(valueStart, valueEnd)
    if (written.byteLength < LAZY_BYTES) define(value, key, { value: parse(inside.decode(written)) })
    else define(value, key, lazily(key, written, source))
  }
  sources.set(value, source)
  return value
}

/** The depth of nested lists that are outlined: each level scans everything inside. */
const OUTLINE_LEVELS = 4

/** The object with samples in the place of long members, for checking its shape: the first item of a list, or a short
 *  text. */
export function outline(value: unknown, levels = OUTLINE_LEVELS): unknown {
  const source = typeof value === 'object' && value !== null ? sources.get(value) : undefined
  if (!source) return value
  const { bytes, members } = source
  const seen: Record<string, unknown> = {}
  for (const { key, valueStart, valueEnd } of members) {
    const long = valueEnd - valueStart >= LAZY_BYTES
    const sample = long ? SAMPLES.get(bytes[valueStart])?.(bytes, valueStart, levels) : undefined
    define(seen, key, { value: sample ?? (value as Record<string, unknown>)[key] })
  }
  return seen
}

/** Validates each long member with `accept` before its first reader gets it. */
export function acceptBuilt(value: object, accept: (key: string, built: unknown) => void): void {
  const source = sources.get(value)
  if (source) source.accept = accept
}

/** The words that occur in a long member as whole strings, such as keys, found without building it. undefined for a
 *  short member, which has been built already. */
export function wordsIn(value: object, key: string, words: ReadonlySet<string>): ReadonlySet<string> | undefined {
  const written = longMember(value, key)
  return written && stringsAmong(Buffer.from(written.buffer, written.byteOffset, written.byteLength), words)
}

/** How far a pattern is looked for behind a key. */
const HEAD_BYTES = 256

/** Whether a pattern of ASCII matches what follows some key of that name in a long member, found without building it.
 *  undefined for a short member, which has been built already. */
export function matchesBehind(value: object, key: string, name: string, pattern: RegExp): boolean | undefined {
  const written = longMember(value, key)
  if (!written) return undefined
  const bytes = Buffer.from(written.buffer, written.byteOffset, written.byteLength)
  const word = `"${name}"`
  for (let at = bytes.indexOf(word, 0); at !== -1; at = bytes.indexOf(word, at)) {
    at += word.length
    if (pattern.test(bytes.toString('latin1', at, at + HEAD_BYTES))) return true
  }
  return false
}

function longMember(value: object, key: string): Uint8Array | undefined {
  const source = sources.get(value)
  const member = source?.members.find((one) => one.key === key)
  if (!source || !member || member.valueEnd - member.valueStart < LAZY_BYTES) return undefined
  return source.bytes.subarray(member.valueStart, member.valueEnd)
}

/** The source of an object that `parseLazily` has read. */
export function sourceOf(value: object): Source | undefined {
  return sources.get(value)
}

function lazily(key: string, written: Uint8Array, source: Source): PropertyDescriptor {
  let built: { readonly value: unknown } | undefined
  return {
    get() {
      if (!built) {
        const value = checked(written, source.parse)
        source.accept?.(key, value)
        built = { value }
      }
      return built.value
    },
  }
}

function checked(written: Uint8Array, parse: ParseText): unknown {
  try {
    return parse(inside.decode(written))
  } catch {
    throw new GatewayError('invalid_request', 'The request body is not valid JSON.', { code: 'invalid_json' })
  }
}

// By defineProperty a key such as __proto__ becomes an ordinary member.
function define(target: object, key: string, descriptor: PropertyDescriptor): void {
  const writable = 'value' in descriptor ? { writable: true } : {}
  Object.defineProperty(target, key, { enumerable: true, configurable: true, ...writable, ...descriptor })
}

/** Samples of long values, by their first byte. */
const SAMPLES = new Map<number | undefined, (bytes: Uint8Array, start: number, levels: number) => unknown>([
  [0x5b, firstItem],
  [0x22, () => '…'],
])

/** A list of only the first item; empty if there is none. */
function firstItem(bytes: Uint8Array, listStart: number, levels: number): unknown[] {
  let start = listStart + 1
  while ((bytes[start] as number) <= 32) start++
  if (bytes[start] === 0x5d) return []
  const written = bytes.subarray(start, endOfValue(bytes, start))
  return [written[0] === 0x7b && levels > 0 ? outline(parseLazily(written), levels - 1) : checked(written, PLAIN)]
}
