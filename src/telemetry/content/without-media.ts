import { base64Bytes } from '../../lib/bytes/base64.ts'
import { digestOf } from '../../lib/crypto.ts'

/** Shorter texts of base64 may be ordinary words or ids. */
const SHORTEST_MEDIA = 512
const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)?[^,]{0,200};base64,/i
/** Matched against the beginning alone: texts may be long. */
const SAMPLE = 256

/** What stands in the place of a file that is a text in base64: its type, size and SHA-256; undefined for any other
 *  text. */
export function mediaMark(text: string): string | undefined {
  const found = DATA_URL.exec(text.slice(0, SAMPLE))
  if (found) return markOf(base64Bytes(text.slice(found[0].length)), found[1])
  if (text.length < SHORTEST_MEDIA || !/^[A-Za-z0-9+/_-]+$/.test(text.slice(0, SAMPLE))) return undefined
  // The whole is looked at only if it begins like a file.
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) ? markOf(base64Bytes(text)) : undefined
}

export function markOf(bytes: Uint8Array, type = 'file'): string {
  return `[${type}, ${bytes.byteLength} bytes, sha256:${digestOf(bytes)}]`
}
