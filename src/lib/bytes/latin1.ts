import { Buffer } from 'node:buffer'

/** A letter for each byte: what is ASCII is read rightly, whatever stands between. The platform's decoder makes other
 *  letters of some bytes, and takes far longer for it. */
export function latin1Text({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
}

/** Whether what follows each occurrence of an ASCII text in bytes, up to so many of them, begins as a pattern says. */
export function eachBegins(
  { buffer, byteOffset, byteLength }: Uint8Array,
  text: string,
  length: number,
  pattern: RegExp,
): boolean {
  const bytes = Buffer.from(buffer, byteOffset, byteLength)
  for (let at = bytes.indexOf(text, 0); at !== -1; at = bytes.indexOf(text, at)) {
    at += text.length
    if (!pattern.test(bytes.toString('latin1', at, at + length))) return false
  }
  return true
}

/** Whether an ASCII text occurs in bytes. */
export function includesAscii({ buffer, byteOffset, byteLength }: Uint8Array, text: string): boolean {
  return Buffer.from(buffer, byteOffset, byteLength).includes(text)
}
