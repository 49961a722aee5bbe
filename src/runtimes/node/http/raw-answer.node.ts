import { failureAnswer } from '../../../api/failures.ts'
import type { GatewayError } from '../../../lib/errors.ts'

// Importing node:http would also load Node's fetch and WebSocket, which are not used: 40 ms.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

/** A refusal as the text for a connection that Node answers no request on: it ends the connection. */
export function rawAnswer(error: GatewayError, more: Readonly<Record<string, string>> = {}): string {
  const { status, headers, body } = failureAnswer(error)
  const text = new TextDecoder().decode(body as Uint8Array)
  const fields = { connection: 'close', ...headers, ...more, 'content-length': String(Buffer.byteLength(text)) }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}\r\n${lines.join('')}\r\n${text}`
}
