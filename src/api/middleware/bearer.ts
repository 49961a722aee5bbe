/** The credential of an Authorization header, if it is a bearer's. */
export function bearerOf(headers: Headers): string | undefined {
  const header = headers.get('authorization')
  const match = header === null ? null : /^bearer +(\S+) *$/i.exec(header)
  return match?.[1]
}
