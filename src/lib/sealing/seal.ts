import { reveal, type Secret } from '../secret.ts'
import { readSaltKey } from './salt-key.ts'

/** Encrypts text at rest by AES-GCM under a key that is derived from the salt key. A text that was sealed for one place
 *  cannot be opened for another. */
export interface Seal {
  close(text: string, place: string): Promise<string>
  /** Throws if the text was sealed under a key that is not known, or for another place, or was altered. */
  open(sealed: string, place: string): Promise<string>
}

const NONCE_BYTES = 12

/** Seals under the salt key, and opens what was sealed under it or one of `others`: the key that it follows, the one that
 *  follows it. */
export function sealUnder(saltKey: Secret | undefined, others: readonly (Secret | undefined)[] = []): Seal {
  if (!saltKey) return { close: unsealed, open: unsealed }
  const own = sealingKey(saltKey)
  const known = new Map([...others.filter((other) => other !== undefined).map(sealingKey), own].map((k) => [k.mark, k]))
  return {
    async close(text, place) {
      const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
      const parameters = { name: 'AES-GCM', iv: nonce, additionalData: encode(place) }
      const closed = new Uint8Array(await crypto.subtle.encrypt(parameters, await own.key(), encode(text)))
      return `${own.mark}.${base64(nonce)}.${base64(closed)}`
    },
    async open(sealed, place) {
      const [mark = '', nonce, closed, ...rest] = sealed.split('.')
      const sealing = known.get(mark)
      if (!sealing || !nonce || !closed || rest.length > 0) throw new Error('not a text that this key has sealed')
      const parameters = { name: 'AES-GCM', iv: bytes(nonce), additionalData: encode(place) }
      return new TextDecoder().decode(await crypto.subtle.decrypt(parameters, await sealing.key(), bytes(closed)))
    },
  }
}

async function unsealed(): Promise<never> {
  throw new TypeError('nothing can be sealed without general_settings.salt_key')
}

function sealingKey(saltKey: Secret): { readonly mark: string; key(): Promise<CryptoKey> } {
  const { sealing, mark } = readSaltKey(reveal(saltKey))
  // The key, not its promise: on Workers a request cannot await the promise of another request.
  let derived: CryptoKey | undefined
  return {
    mark,
    async key() {
      derived ??= await derive(sealing)
      return derived
    },
  }
}

async function derive(sealing: string): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey('raw', encode(sealing), 'HKDF', false, ['deriveKey'])
  const parameters = {
    name: 'HKDF',
    hash: 'SHA-256',
    salt: new Uint8Array(0),
    info: encode('gateway secrets at rest v1'),
  }
  const algorithm = { name: 'AES-GCM', length: 256 }
  return crypto.subtle.deriveKey(parameters, material, algorithm, false, ['encrypt', 'decrypt'])
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

function base64(from: Uint8Array): string {
  return btoa(Array.from(from, (byte) => String.fromCharCode(byte)).join(''))
}

function bytes(from: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(from), (letter) => letter.charCodeAt(0))
}
