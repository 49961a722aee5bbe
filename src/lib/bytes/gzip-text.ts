import { base64Bytes, base64Text } from './base64.ts'
import { through } from './through.ts'

/** A text, compressed, as base64. */
export async function gzipText(text: string): Promise<string> {
  return base64Text(await through(new CompressionStream('gzip'), new TextEncoder().encode(text)))
}

/** Reads what `gzipText` has made; undefined if it is damaged. */
export async function gunzipText(base64: string): Promise<string | undefined> {
  try {
    const packed = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
    const bytes = await through(new DecompressionStream('gzip'), packed)
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** The bytes that `gunzipText` will make of a text: the last four bytes of gzip say so. */
export function unpackedBytes(base64: string): number {
  return base64Bytes(base64.slice(-8))
    .slice(-4)
    .reduceRight((sum, byte) => 256 * sum + byte, 0)
}
