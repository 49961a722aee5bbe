import { digestOf } from '../crypto.ts'
import type { Secret } from '../secret.ts'

/** The two uses of a salt key. A key that an operator chooses serves both. Its successor seals by new random bits and goes
 *  on hashing by the first key, so that what is kept as a hash alone (API keys, sessions, links, recovery codes) is known
 *  for ever, and only what is sealed has to be sealed anew. */
export interface SaltKey {
  /** What texts are hashed under. */
  readonly hashing: string
  /** What the key of sealed texts is derived from. */
  readonly sealing: string
  /** What the texts that it has sealed begin with. */
  readonly mark: string
}

/** The salt keys of a gateway: the one in use, and those beside it while it is replaced. */
export interface SaltKeys {
  readonly salt_key?: Secret | undefined
  readonly salt_key_next?: Secret | undefined
  readonly salt_key_previous?: Secret | undefined
}

/** The mark of every key that is no successor: no two of them serve one database. */
export const FIRST_MARK = 'v1'
const RANDOM_BYTES = 32
const SUCCESSOR = /^v2\.([\w-]{43})\.([\w-]+)$/

export function readSaltKey(text: string): SaltKey {
  const [, sealing, hashing] = SUCCESSOR.exec(text) ?? []
  if (sealing === undefined || hashing === undefined) return { hashing: text, sealing: text, mark: FIRST_MARK }
  return { hashing: textOf(hashing), sealing, mark: `v2-${digestOf(`the mark of ${sealing}`).slice(0, 12)}` }
}

/** Makes a successor of a salt key. */
export function successorOf(saltKey: string): string {
  const random = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))
  return `v2.${base64url(random)}.${base64url(new TextEncoder().encode(readSaltKey(saltKey).hashing))}`
}

function base64url(bytes: Uint8Array): string {
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function textOf(encoded: string): string {
  const binary = atob(encoded.replaceAll('-', '+').replaceAll('_', '/'))
  return new TextDecoder().decode(Uint8Array.from(binary, (letter) => letter.charCodeAt(0)))
}

/** Hashes no key: without a salt key it could not be found once a salt key is set. */
export function unsalted(): never {
  throw new TypeError('no key can be hashed without general_settings.salt_key')
}
