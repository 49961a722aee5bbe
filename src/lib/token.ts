import { digestOf } from './crypto.ts'

const RANDOM_BYTES = 32
const CHECK_BYTES = 4

const FORM = /^[\w-]{48}$/

/** 256 random bits with their checksum, as 48 characters of base64url. */
export function newToken(): string {
  const random = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))
  const bytes = new Uint8Array(RANDOM_BYTES + CHECK_BYTES)
  bytes.set(random)
  bytes.set(checkOf(random), RANDOM_BYTES)
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
}

/** Whether a text can be a token of a gateway. A mistyped one fails this test and causes no lookup. The checksum is not
 *  keyed: one under the salt key would let the holder of a token search for the salt key offline. */
export function mayBeToken(text: string): boolean {
  if (!FORM.test(text)) return false
  const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0))
  const check = checkOf(bytes.subarray(0, RANDOM_BYTES))
  return check.every((byte, index) => byte === bytes[RANDOM_BYTES + index])
}

const PREFIX = 'sk-'

/** Keys from before the checksum: the last letter of 32 bytes in base64url has two empty bits. */
const OLDER_FORM = /^sk-[\w-]{42}[AEIMQUYcgkosw048]$/

/** `sk-` and a token. */
export function newApiKey(): string {
  return PREFIX + newToken()
}

/** Whether a text can be a key of a gateway. */
export function mayBeApiKey(text: string): boolean {
  return OLDER_FORM.test(text) || (text.startsWith(PREFIX) && mayBeToken(text.slice(PREFIX.length)))
}

/** The first bytes of a SHA-256. */
function checkOf(random: Uint8Array): number[] {
  const digits = digestOf(random)
  return Array.from({ length: CHECK_BYTES }, (_, index) => Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16))
}
