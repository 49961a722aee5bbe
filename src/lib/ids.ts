const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz'
const LENGTH = 24

// Asking for randomness costs more than using it: one request serves many ids.
const pool = new Uint8Array(LENGTH * 128)
let used = pool.length
const letters = new Array<number>(LENGTH)

/** `<prefix>_` and 24 random characters (124 bits). */
export function newId(prefix: string, separator: '_' | '-' = '_'): string {
  if (used === pool.length) {
    crypto.getRandomValues(pool)
    used = 0
  }
  for (let index = 0; index < LENGTH; index++) {
    letters[index] = ALPHABET.charCodeAt((pool[used++] as number) % ALPHABET.length)
  }
  // In one piece: a string that grew letter by letter is kept as a chain of its pieces by whoever keeps the id.
  return `${prefix}${separator}${String.fromCharCode(...letters)}`
}
