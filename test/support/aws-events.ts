import { joinBytes } from '../../src/lib/bytes/bytes.ts'

const encoder = new TextEncoder()

/** One message of `application/vnd.amazon.eventstream`, as a service writes it. */
export function awsMessage(headers: Readonly<Record<string, string>>, payload: string | Uint8Array): Uint8Array {
  const body = typeof payload === 'string' ? encoder.encode(payload) : payload
  const head = joinBytes(Object.entries(headers).flatMap(([name, value]) => headerOf(name, value)))
  const length = 12 + head.byteLength + body.byteLength + 4
  const prelude = joinBytes([uint32(length), uint32(head.byteLength)])
  const checked = joinBytes([prelude, uint32(checksum(prelude)), head, body])
  return joinBytes([checked, uint32(checksum(checked))])
}

/** An event of ConverseStream. */
export function awsEvent(type: string, payload: object): Uint8Array {
  const headers = { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }
  return awsMessage(headers, JSON.stringify(payload))
}

export function awsException(type: string, message: string): Uint8Array {
  const headers = { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' }
  return awsMessage(headers, JSON.stringify({ message }))
}

function headerOf(name: string, value: string): Uint8Array[] {
  const [key, text] = [encoder.encode(name), encoder.encode(value)]
  return [Uint8Array.of(key.byteLength), key, Uint8Array.of(7, text.byteLength >> 8, text.byteLength & 0xff), text]
}

function uint32(value: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, value)
  return bytes
}

/** CRC-32 bit by bit, as its definition has it. */
function checksum(bytes: Uint8Array): number {
  let value = 0xffffffff
  for (const byte of bytes) {
    value ^= byte
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  }
  return ~value >>> 0
}
