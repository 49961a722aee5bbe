/** The credential of an Authorization header, if it is a bearer's. */
export function bearerOf(header: string | undefined): string | undefined {
  const match = header === undefined ? null : /^bearer +(\S+) *$/i.exec(header)
  return match?.[1]
}
