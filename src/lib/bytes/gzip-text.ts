import { through } from './through.ts'

/** A text, compressed, as base64. */
export async function gzipText(text: string): Promise<string> {
  const packed = await through(new CompressionStream('gzip'), new TextEncoder().encode(text))
  let binary = ''
  for (let at = 0; at < packed.byteLength; at += AT_ONCE) {
    binary += String.fromCharCode(...packed.subarray(at, at + AT_ONCE))
  }
  return btoa(binary)
}

/** More arguments than a call takes everywhere. */
const AT_ONCE = 8192

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
