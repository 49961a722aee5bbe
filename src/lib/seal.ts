import { reveal, type Secret } from './secret.ts'

/** Encrypts text at rest by AES-GCM under a key that is derived from the salt key. A text that was sealed for one place
 *  cannot be opened for another. */
export interface Seal {
  close(text: string, place: string): Promise<string>
  /** Throws if the text was sealed under another key or for another place, or was altered. */
  open(sealed: string, place: string): Promise<string>
}

/** Identifies the algorithm and the key derivation, so that later versions can differ. */
const VERSION = 'v1'
const NONCE_BYTES = 12

export function sealUnder(saltKey: Secret | undefined): Seal {
  // The key, not its promise: on Workers a request cannot await the promise of another request.
  let derived: CryptoKey | undefined
  async function key(): Promise<CryptoKey> {
    if (!saltKey) throw new TypeError('nothing can be sealed without general_settings.salt_key')
    derived ??= await derive(reveal(saltKey))
    return derived
  }
  return {
    async close(text, place) {
      const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
      const parameters = { name: 'AES-GCM', iv: nonce, additionalData: encode(place) }
      const closed = new Uint8Array(await crypto.subtle.encrypt(parameters, await key(), encode(text)))
      return `${VERSION}.${base64(nonce)}.${base64(closed)}`
    },
    async open(sealed, place) {
      const [version, nonce, closed, ...rest] = sealed.split('.')
      if (version !== VERSION || !nonce || !closed || rest.length > 0) throw new Error('not a sealed text')
      const parameters = { name: 'AES-GCM', iv: bytes(nonce), additionalData: encode(place) }
      return new TextDecoder().decode(await crypto.subtle.decrypt(parameters, await key(), bytes(closed)))
    },
  }
}

async function derive(saltKey: string): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey('raw', encode(saltKey), 'HKDF', false, ['deriveKey'])
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
