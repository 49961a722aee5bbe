const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz'
const LENGTH = 24

// A call of the random generator has a fixed cost, so that one call serves many ids.
const pool = new Uint8Array(LENGTH * 128)
let used = pool.length
const letters = new Array<number>(LENGTH)
/** The letter of each random byte. */
const LETTERS = Uint8Array.from({ length: 256 }, (_, byte) => ALPHABET.charCodeAt(byte % ALPHABET.length))

/** `<prefix>_` and 24 random characters (124 bits). */
export function newId(prefix: string, separator: '_' | '-' = '_'): string {
  draw(0)
  // A string that is built letter by letter stays in memory as a chain of its parts.
  return `${prefix}${separator}${String.fromCharCode(...letters)}`
}

// Nine digits suffice until the year 5188.
const TIME_LENGTH = 9
let drawnAt = 0
let time = ''

/** `<prefix>_` and 24 characters: 9 of the time in milliseconds, then 15 random ones (77 bits). Rows with such ids are
 *  added at the end of their index, while random ids would each touch another page. */
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
    letters[index] = LETTERS[pool[used++] as number] as number
  }
}
