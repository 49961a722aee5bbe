import { type ScryptInput, sameBytes } from '../../lib/crypto.ts'

/** The parts of a stored hash. */
export interface StoredPassword extends Omit<ScryptInput, 'password' | 'keyBytes'> {
  readonly key: Uint8Array
}

/** The parameters of new passwords: the work of 2^14 · 8 · 5, which both runtimes allow. */
export const COST = { cost: 2 ** 14, blockSize: 8, parallelization: 5 } as const
export const KEY_BYTES = 32
const SALT_BYTES = 16

/** The most that Workers allow of N · r · p. No text that the gateway wrote asks for more. */
const MOST_WORK = 2 ** 20

const FORM = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]{8,128})\$([A-Za-z0-9+/]{22,128})$/

export function newSalt(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(SALT_BYTES))
}

/** As PHC writes it: `$scrypt$ln=14,r=8,p=5$<salt>$<key>`. */
export function storedText({ cost, blockSize, parallelization, salt, key }: StoredPassword): string {
  return `$scrypt$ln=${Math.log2(cost)},r=${blockSize},p=${parallelization}$${base64(salt)}$${base64(key)}`
}

/** undefined where the text is none that `storedText` writes. */
export function readStored(text: string): StoredPassword | undefined {
  const [, logarithm, blocks, lanes, salt, key] = FORM.exec(text) ?? []
  if (salt === undefined || key === undefined) return undefined
  const [cost, blockSize, parallelization] = [2 ** Number(logarithm), Number(blocks), Number(lanes)]
  if (cost < 2 || blockSize < 1 || parallelization < 1 || cost * blockSize * parallelization > MOST_WORK)
    return undefined
  const [saltBytes, keyBytes] = [bytes(salt), bytes(key)]
  return saltBytes && keyBytes && { cost, blockSize, parallelization, salt: saltBytes, key: keyBytes }
}

export function isKeyOf({ key }: StoredPassword, derived: Uint8Array): boolean {
  return sameBytes(key, derived)
}

function base64(from: Uint8Array): string {
  return btoa(String.fromCharCode(...from)).replaceAll('=', '')
}

function bytes(text: string): Uint8Array | undefined {
  // A single letter beyond whole groups of four cannot be base64.
  if (text.length % 4 === 1) return undefined
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
}
