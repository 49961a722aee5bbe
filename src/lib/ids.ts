const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz'
const LENGTH = 24

// Asking for randomness costs more than using it: one request serves many ids.
const pool = new Uint8Array(LENGTH * 128)
let used = pool.length

/** `<prefix>_` and 24 random characters (124 bits). */
export function newId(prefix: string): string {
  if (used === pool.length) {
    crypto.getRandomValues(pool)
    used = 0
  }
  let id = `${prefix}_`
  for (const end = used + LENGTH; used < end; used++) id += ALPHABET[(pool[used] as number) % 36]
  return id
}
