/** The credential of an Authorization header, if it is a bearer's. */
export function bearerOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  // As nearly everybody writes it: an expression would cost every call.
  if (header.startsWith('Bearer ') && !header.includes(' ', 7)) return header.slice(7)
  return /^bearer +(\S+) *$/i.exec(header)?.[1]
}
