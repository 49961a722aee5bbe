const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz'
const LENGTH = 24

// Asking for randomness costs more than using it: one request serves many ids.
const pool = new Uint8Array(LENGTH * 128)
let used = pool.length
const letters = new Array<number>(LENGTH)

/** `<prefix>_` and 24 random characters (124 bits). */
export function newId(prefix: string, separator: '_' | '-' = '_'): string {
  draw(0)
  // In one piece: a string that grew letter by letter is kept as a chain of its pieces by whoever keeps the id.
  return `${prefix}${separator}${String.fromCharCode(...letters)}`
}

// Enough until the year 5188.
const TIME_LENGTH = 9
let drawnAt = 0
let time = ''

/** `<prefix>_` and 24 characters, the first 9 of them the time in milliseconds, the others random (77 bits). Rows by such
 *  ids are added at the end of their index: random ones would touch a page of it each. */
export function newTimedId(prefix: string): string {
  draw(TIME_LENGTH)
  const now = Date.now()
  if (now !== drawnAt) {
    drawnAt = now
    time = now.toString(36).padStart(TIME_LENGTH, '0')
  }
  for (let index = 0; index < TIME_LENGTH; index++) letters[index] = time.charCodeAt(index)
  return `${prefix}_${String.fromCharCode(...letters)}`
}

function draw(from: number): void {
  if (used + LENGTH > pool.length) {
    crypto.getRandomValues(pool)
    used = 0
  }
  for (let index = from; index < LENGTH; index++) {
    letters[index] = ALPHABET.charCodeAt((pool[used++] as number) % ALPHABET.length)
  }
}
