/** The credential of an Authorization header of the Bearer scheme. */
export function bearerOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  // The usual spelling, without the cost of a regular expression.
  if (header.startsWith('Bearer ') && !header.includes(' ', 7)) return header.slice(7)
  return /^bearer +(\S+) *$/i.exec(header)?.[1]
}
