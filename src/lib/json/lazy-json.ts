import { Buffer, isUtf8 } from 'node:buffer'
import { GatewayError } from '../errors.ts'
import { endOfValue, type Member, membersOf, stringsAmong } from './json-members.ts'

/** A member of more bytes than this is built when somebody reads it. */
const LAZY_BYTES = 65_536

const document = new TextDecoder('utf-8', { fatal: true })
// What looks like a byte order mark inside a document is a mistake.
const inside = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

interface Source {
  readonly bytes: Uint8Array
  readonly members: readonly Member[]
  /** Throws what is wrong with a member that was just built. */
  accept?: (key: string, built: unknown) => void
}

const sources = new WeakMap<object, Source>()

/** What JSON.parse gives of UTF-8 bytes, but long members of the object are built when they are first read: a call that
 *  is relayed never reads its conversation. A mistake inside such a member is an `invalid_request` when it is read. */
export function parseLazily(bytes: Uint8Array): unknown {
  const members = bytes.byteLength >= 2 * LAZY_BYTES && isUtf8(bytes) ? membersOf(bytes) : undefined
  if (!members) return JSON.parse(document.decode(bytes))
  const value: Record<string, unknown> = {}
  const source: Source = { bytes, members }
  for (const { key, valueStart, valueEnd } of members) {
    const written = bytes.subarray(valueStart, valueEnd)
    if (written.byteLength < LAZY_BYTES) define(value, key, { value: JSON.parse(inside.decode(written)) })
    else define(value, key, lazily(key, written, source))
  }
  sources.set(value, source)
  return value
}

/** Lists in lists that are still looked into: each look goes through everything inside. */
const MOST_LOOKS = 4

/** The same object for a look at its shape: of a list that was not built there is the first item, of a text a letter. */
export function outline(value: unknown, looks = MOST_LOOKS): unknown {
  const source = typeof value === 'object' && value !== null ? sources.get(value) : undefined
  if (!source) return value
  const { bytes, members } = source
  const seen: Record<string, unknown> = {}
  for (const { key, valueStart, valueEnd } of members) {
    const long = valueEnd - valueStart >= LAZY_BYTES
    const sample = long ? SAMPLES.get(bytes[valueStart])?.(bytes, valueStart, looks) : undefined
    define(seen, key, { value: sample ?? (value as Record<string, unknown>)[key] })
  }
  return seen
}

/** Has each member that is built from now on accepted before anybody gets it. */
export function acceptBuilt(value: object, accept: (key: string, built: unknown) => void): void {
  const source = sources.get(value)
  if (source) source.accept = accept
}

/** Which of some words stand in a long member as strings of their own, keys above all, without building it. undefined
 *  for a member that is short, and as good as read. */
export function wordsIn(value: object, key: string, words: ReadonlySet<string>): ReadonlySet<string> | undefined {
  const source = sources.get(value)
  const member = source?.members.find((one) => one.key === key)
  if (!source || !member || member.valueEnd - member.valueStart < LAZY_BYTES) return undefined
  const { buffer, byteOffset } = source.bytes
  const { valueStart, valueEnd } = member
  return stringsAmong(Buffer.from(buffer, byteOffset + valueStart, valueEnd - valueStart), words)
}

/** Where an object came from, when it was read lazily. */
export function sourceOf(value: object): Source | undefined {
  return sources.get(value)
}

function lazily(key: string, written: Uint8Array, source: Source): PropertyDescriptor {
  let built: { readonly value: unknown } | undefined
  return {
    get() {
      if (!built) {
        const value = checked(written)
        source.accept?.(key, value)
        built = { value }
      }
      return built.value
    },
  }
}

function checked(written: Uint8Array): unknown {
  try {
    return JSON.parse(inside.decode(written))
  } catch {
    throw new GatewayError('invalid_request', 'The request body is not valid JSON.', { code: 'invalid_json' })
  }
}

// A key such as __proto__ is a member like any other.
function define(target: object, key: string, descriptor: PropertyDescriptor): void {
  const writable = 'value' in descriptor ? { writable: true } : {}
  Object.defineProperty(target, key, { enumerable: true, configurable: true, ...writable, ...descriptor })
}

/** What stands for a long value, by its first byte. */
const SAMPLES = new Map<number | undefined, (bytes: Uint8Array, start: number, looks: number) => unknown>([
  [0x5b, firstItem],
  [0x22, () => '…'],
])

/** A list of the first one alone, or of none. */
function firstItem(bytes: Uint8Array, listStart: number, looks: number): unknown[] {
  let start = listStart + 1
  while ((bytes[start] as number) <= 32) start++
  if (bytes[start] === 0x5d) return []
  const written = bytes.subarray(start, endOfValue(bytes, start))
  return [written[0] === 0x7b && looks > 0 ? outline(parseLazily(written), looks - 1) : checked(written)]
}
