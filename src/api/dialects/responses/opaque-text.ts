/** A value as an opaque text, which clients send back unchanged. */
export function sealText(value: unknown): string {
  const ascii = JSON.stringify(value).replace(
    /[\u0080-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return btoa(ascii)
}

/** The value in such a text; undefined for a text that is none. */
export function openText(sealed: string): unknown {
  try {
    return JSON.parse(atob(sealed))
  } catch {
    return undefined
  }
}
