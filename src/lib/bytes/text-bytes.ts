/** Bodies below this hold no file worth looking for. */
const LARGE_BYTES = 65_536
const STEP = 4096
/** So much without a blank, a quote or an escape in it is no text. */
const RUN = 48
/** A file costs its reader about this share of what its letters would. */
const SHARE = 1 / 32

const ENCODED = new Uint8Array(256)
for (const letter of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=') {
  ENCODED[letter.charCodeAt(0)] = 1
}

/** How long a JSON body is as text: images and other files inside it, in base64, are not read letter by letter. Found by
 *  samples, since it is asked of bodies of many megabytes. */
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
