/** Smaller bodies are not searched for files. */
const LARGE_BYTES = 65_536
const STEP = 4096
/** This many characters without a space, quote or escape are no text. */
const RUN = 48
/** A model counts about this share of a file's base64 characters. */
const SHARE = 1 / 32

const ENCODED = new Uint8Array(256)
for (const letter of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=') {
  ENCODED[letter.charCodeAt(0)] = 1
}

/** Estimates the bytes of text in a JSON body: files in base64 count for a small share of theirs. It takes samples,
 *  since bodies may have many megabytes. */
export function textBytes(bytes: Uint8Array): number {
  const { byteLength } = bytes
  if (byteLength < LARGE_BYTES) return byteLength
  let encoded = 0
  for (let at = STEP; at + RUN <= byteLength; at += STEP) if (isEncoded(bytes, at)) encoded += STEP
  return Math.ceil(byteLength - encoded * (1 - SHARE))
}

function isEncoded(bytes: Uint8Array, from: number): boolean {
  for (let at = from; at < from + RUN; at++) if (ENCODED[bytes[at] as number] === 0) return false
  return true
}
