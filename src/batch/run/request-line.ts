import { membersOf } from '../../lib/json/json-members.ts'

/** A request as a line of an input file writes it. */
export interface RequestLine {
  readonly customId: string | null
  /** The JSON of its body, as the client wrote it. */
  readonly body: Uint8Array
}

const decoder = new TextDecoder()
const encoder = new TextEncoder()

/** Reads a line that was validated; undefined if it holds no request. */
export function readRequestLine(line: Uint8Array): RequestLine | undefined {
  try {
    const members = membersOf(line)
    const bytesOf = (key: string) => {
      const member = members?.find((one) => one.key === key)
      return member && line.subarray(member.valueStart, member.valueEnd)
    }
    if (!members) return rewritten(line)
    const [customId, body] = [bytesOf('custom_id'), bytesOf('body')]
    return body && { customId: customId ? idOf(JSON.parse(decoder.decode(customId))) : null, body }
  } catch {
    return undefined
  }
}

/** Keys that are escaped or repeated, which usual encoders do not write. */
function rewritten(line: Uint8Array): RequestLine | undefined {
  const { custom_id, body } = JSON.parse(decoder.decode(line)) as { custom_id?: unknown; body?: unknown }
  return body === undefined ? undefined : { customId: idOf(custom_id), body: encoder.encode(JSON.stringify(body)) }
}

const idOf = (value: unknown) => (typeof value === 'string' ? value : null)
