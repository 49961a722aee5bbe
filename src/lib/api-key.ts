import { digestOf } from './crypto.ts'

const PREFIX = 'sk-'
const RANDOM_BYTES = 32
const CHECK_BYTES = 4

const FORM = /^sk-[\w-]{48}$/
/** Keys from before the checksum: the last letter of 32 bytes in base64url has two empty bits. */
const OLDER_FORM = /^sk-[\w-]{42}[AEIMQUYcgkosw048]$/

/** `sk-` and 256 random bits with their checksum, as 48 characters of base64url. */
export function newApiKey(): string {
  const random = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))
  const bytes = new Uint8Array(RANDOM_BYTES + CHECK_BYTES)
  bytes.set(random)
  bytes.set(checkOf(random), RANDOM_BYTES)
  return (
    PREFIX +
    btoa(String.fromCharCode(...bytes))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
  )
}

/** Whether a text can be a key of a gateway. A mistyped key fails this test and causes no lookup. The checksum is not keyed:
 *  one under the salt key would let the holder of a key search for the salt key offline. */
export function mayBeApiKey(text: string): boolean {
  if (OLDER_FORM.test(text)) return true
  if (!FORM.test(text)) return false
  const base64 = text.slice(PREFIX.length).replaceAll('-', '+').replaceAll('_', '/')
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
  const check = checkOf(bytes.subarray(0, RANDOM_BYTES))
  return check.every((byte, index) => byte === bytes[RANDOM_BYTES + index])
}

/** The first bytes of a SHA-256. */
function checkOf(random: Uint8Array): number[] {
  const digits = digestOf(random)
  return Array.from({ length: CHECK_BYTES }, (_, index) => Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16))
}
