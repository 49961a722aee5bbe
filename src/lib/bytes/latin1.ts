import { Buffer } from 'node:buffer'

/** A letter for each byte: what is ASCII is read rightly, whatever stands between. The platform's decoder makes other
 *  letters of some bytes, and takes far longer for it. */
export function latin1Text({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
}
