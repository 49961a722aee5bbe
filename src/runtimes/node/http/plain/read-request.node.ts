import type { Socket } from 'node:net'
import { addField, type HeaderFields } from '../../../../transport/http1/header-line.node.ts'
import type { Incoming } from '../messages.node.ts'

/** Longer requests are left to Node, which receives them as they are read. */
export const LONGEST_BYTES = 65_536
/** More headers than a client of an API has. */
const MOST_HEADERS = 100

const START = 'POST '
const FIRST_LINE = /^POST (\/[!#$&-;=?-[\]_a-z~]*) HTTP\/1\.1$/
const LENGTH = /^\d{1,6}$/
const [LF, CR] = [10, 13]

export interface PlainRequest {
  readonly incoming: Incoming
  /** The number of bytes that it takes. */
  readonly bytes: number
}

/** Reads the plain request that bytes begin with: a POST of HTTP/1.1 with a body of known length that two readers can
 *  only understand alike. `incomplete`: more may make it one. `other`: it is to be read by Node. */
export function readRequest(bytes: Buffer, socket: Socket): PlainRequest | 'incomplete' | 'other' {
  const lineEnd = bytes.indexOf(LF)
  if (lineEnd === -1) return canBecomeOne(bytes) ? 'incomplete' : 'other'
  const target = FIRST_LINE.exec(bytes.toString('latin1', 0, lineEnd - 1))?.[1]
  if (target === undefined || bytes[lineEnd - 1] !== CR) return 'other'
  const headers: HeaderFields = {}
  let at = lineEnd + 1
  for (let count = 0; ; count++) {
    const end = bytes.indexOf(LF, at)
    if (end === -1) return bytes.length < LONGEST_BYTES ? 'incomplete' : 'other'
    if (bytes[end - 1] !== CR || count > MOST_HEADERS) return 'other'
    const start = at
    at = end + 1
    if (start === end - 1) break
    if (addField(headers, bytes, start, end - 1) !== 'new') return 'other'
  }
  if (!isPlain(headers)) return 'other'
  const length = Number(headers['content-length'])
  if (at + length > LONGEST_BYTES) return 'other'
  if (at + length > bytes.length) return 'incomplete'
  const incoming = plainIncoming(target, headers, bytes.subarray(at, at + length), socket)
  return { incoming, bytes: at + length }
}

function canBecomeOne(bytes: Buffer): boolean {
  return bytes.length < LONGEST_BYTES && START.startsWith(bytes.toString('latin1', 0, START.length))
}

/** Whether nothing but the length says where the request ends, and nothing is asked of the connection. */
function isPlain(headers: HeaderFields): boolean {
  return (
    headers.host !== undefined &&
    LENGTH.test(headers['content-length'] ?? '') &&
    (headers.connection === undefined || /^keep-alive$/i.test(headers.connection)) &&
    headers['transfer-encoding'] === undefined &&
    headers.expect === undefined &&
    headers.upgrade === undefined &&
    headers.trailer === undefined &&
    // Node makes a list of it.
    headers['set-cookie'] === undefined
  )
}

interface State extends Incoming {
  readableDidRead: boolean
  body: Uint8Array | null
}

/** A request that is here as a whole: nothing more happens to it. */
function plainIncoming(url: string, headers: HeaderFields, body: Uint8Array, socket: Socket): Incoming {
  // The functions are shared by all requests, so that one costs a single object.
  const incoming: State = {
    method: 'POST',
    url,
    httpVersion: '1.1',
    headers,
    socket,
    complete: true,
    destroyed: false,
    readableEnded: true,
    readableDidRead: false,
    readableLength: 0,
    body,
    read,
    resume: nothing,
    on: nothing,
    once: nothing,
    off: nothing,
  }
  return incoming
}

function read(this: State): Uint8Array | null {
  const { body } = this
  this.readableDidRead = true
  this.body = null
  return body
}

function nothing(): void {}
