/** How a field is written: a scalar by its name, or the fields of a message. */
type Kind =
  | 'string'
  | 'hex'
  | 'fixed64'
  | 'fixed32'
  | 'int64'
  | 'uint64'
  | 'double'
  | 'bool'
  | 'enum'
  | 'fixed64s'
  | 'doubles'
  | Message

/** The fields of a message: number and kind, by the names that they have in JSON. Lists are written element by element. */
export type Message = { readonly [name: string]: readonly [number: number, kind: Kind | (() => Message)] }

export type Json = Readonly<Record<string, unknown>>

/** Writes OTLP/JSON as protobuf, after a table of its messages. */
export function encode(value: Json, message: Message): Uint8Array {
  const out = writer()
  write(out, value, message)
  return out.bytes()
}

function write(out: Writer, value: Json, message: Message): void {
  for (const [name, [number, kind]] of Object.entries(message)) {
    const given = value[name]
    if (given === undefined || given === null) continue
    const isPacked = kind === 'fixed64s' || kind === 'doubles'
    for (const one of Array.isArray(given) && !isPacked ? given : [given]) field(out, number, kind, one)
  }
}

const VARINT = 0
const EIGHT_BYTES = 1
const LENGTH = 2
const FOUR_BYTES = 5

function field(out: Writer, number: number, kind: Kind | (() => Message), value: unknown): void {
  const tag = (wire: number) => out.varint(BigInt((number << 3) | wire))
  const lengthed = (bytes: Uint8Array) => {
    tag(LENGTH)
    out.varint(BigInt(bytes.byteLength))
    out.raw(bytes)
  }
  if (typeof kind === 'function' || typeof kind === 'object') {
    lengthed(encode(value as Json, typeof kind === 'function' ? kind() : kind))
    return
  }
  if (kind === 'string') lengthed(encoder.encode(value as string))
  else if (kind === 'hex') lengthed(hexBytes(value as string))
  else if (kind === 'fixed64s') lengthed(packed(value as string[], (into, one) => into.fixed64(BigInt(one))))
  else if (kind === 'doubles') lengthed(packed(value as number[], (into, one) => into.double(one)))
  else if (kind === 'fixed64') {
    tag(EIGHT_BYTES)
    out.fixed64(BigInt(value as string))
  } else if (kind === 'double') {
    tag(EIGHT_BYTES)
    out.double(value as number)
  } else if (kind === 'fixed32') {
    tag(FOUR_BYTES)
    out.fixed32(value as number)
  } else {
    tag(VARINT)
    out.varint(BigInt.asUintN(64, BigInt(value as string | number | boolean)))
  }
}

function packed<Value>(values: readonly Value[], each: (into: Writer, value: Value) => void): Uint8Array {
  const out = writer()
  for (const value of values) each(out, value)
  return out.bytes()
}

const encoder = new TextEncoder()

function hexBytes(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, index) =>
    Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16),
  )
}

interface Writer {
  varint(value: bigint): void
  fixed64(value: bigint): void
  fixed32(value: number): void
  double(value: number): void
  raw(bytes: Uint8Array): void
  bytes(): Uint8Array
}

function writer(): Writer {
  let buffer = new Uint8Array(256)
  let view = new DataView(buffer.buffer)
  let length = 0
  /** Makes room, and returns where it begins. */
  function room(bytes: number): number {
    if (length + bytes > buffer.byteLength) {
      const larger = new Uint8Array(Math.max(2 * buffer.byteLength, length + bytes))
      larger.set(buffer)
      buffer = larger
      view = new DataView(buffer.buffer)
    }
    length += bytes
    return length - bytes
  }
  return {
    varint(value) {
      let rest = value
      while (rest > 0x7fn) {
        const at = room(1)
        view.setUint8(at, Number(rest & 0x7fn) | 0x80)
        rest >>= 7n
      }
      const at = room(1)
      view.setUint8(at, Number(rest))
    },
    // The room is made first: it may replace the view.
    fixed64(value) {
      const at = room(8)
      view.setBigUint64(at, value, true)
    },
    fixed32(value) {
      const at = room(4)
      view.setUint32(at, value, true)
    },
    double(value) {
      const at = room(8)
      view.setFloat64(at, value, true)
    },
    raw(bytes) {
      const at = room(bytes.byteLength)
      buffer.set(bytes, at)
    },
    bytes: () => buffer.slice(0, length),
  }
}
