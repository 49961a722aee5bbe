import { Buffer } from 'node:buffer'

/** The bytes that a text in base64, of either alphabet, stands for. The platform's own decoder takes far longer. */
export function base64Bytes(text: string): Uint8Array {
  return Buffer.from(text, 'base64')
}

/** Bytes in base64. */
export function base64Text({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64')
}
