const DEFAULTS =
  /change.?me|replace.?me|^(sk-)?(1234\d*|your\b.*|example.*|default.*|test|password\d*|secret\d*|admin\d*|(master|salt)[-_]?key\d*)$|^sk-1234/i
const HOW = 'make one with: openssl rand -hex 32'

/** The reason why a master or salt key is guessable or cannot be sent; undefined for a good one. */
export function mistakeInKey(key: string): string | undefined {
  if (DEFAULTS.test(key)) return `is a well-known example; ${HOW}`
  if (key.length < 16) return `is shorter than 16 characters; ${HOW}`
  if (new Set(key).size < 6) return `has too few different characters; ${HOW}`
  if (key.trim() !== key || !/^[\x20-\x7e]+$/.test(key)) {
    return `must be printable ASCII without spaces at its ends, so that it can travel in a header; ${HOW}`
  }
  return undefined
}
