const alphabet = '0123456789abcdefghijklmnopqrstuvwxyz'

/** `<prefix>_` and 24 random characters (124 bits). */
export function newId(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(24))
  let id = `${prefix}_`
  for (const byte of bytes) id += alphabet[byte % 36]
  return id
}
