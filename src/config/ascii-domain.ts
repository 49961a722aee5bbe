const LABELS = /^(?!-)[a-z0-9-]+(\.[a-z0-9-]+)+$/
/** What ends or begins another part of an address than its host. */
const NOT_A_HOST = /[\s\p{Cc}/\\?#@:%[\]]/u

/** A domain as it is compared: lower case, letters beyond ASCII as punycode. undefined: it is none. */
export function asciiDomain(text: string): string | undefined {
  if (NOT_A_HOST.test(text)) return undefined
  const hostname = URL.parse(`http://${text}`)?.hostname
  return hostname !== undefined && LABELS.test(hostname) ? hostname : undefined
}
