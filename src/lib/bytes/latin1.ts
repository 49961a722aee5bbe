import { Buffer } from 'node:buffer'

/** A letter for each byte: what is ASCII is read rightly, whatever stands between. The platform's decoder makes other
 *  letters of some bytes, and takes far longer for it. */
export function latin1Text({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
}

/** Whether an ASCII text occurs in bytes. */
export function includesAscii({ buffer, byteOffset, byteLength }: Uint8Array, text: string): boolean {
  return Buffer.from(buffer, byteOffset, byteLength).includes(text)
}
