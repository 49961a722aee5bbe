const LONGEST = 254
const LONGEST_LOCAL = 64
const LOCAL = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u
const LABELS = /^(?!-)[a-z0-9-]+(\.[a-z0-9-]+)+$/
/** What ends or begins another part of an address than its host. */
const NOT_A_HOST = /[\s\p{Cc}/\\?#@:%[\]]/u

/** Whether a text is an e-mail address that people have: `name@example.com`, letters of any script on both sides. Neither
 *  quoted names nor numbers in the place of a domain, and nothing that a header could be made of. */
export function isMailbox(text: string): boolean {
  const at = text.lastIndexOf('@')
  const local = text.slice(0, at)
  if (at < 1 || byteLength(text) > LONGEST || byteLength(local) > LONGEST_LOCAL) return false
  return LOCAL.test(local) && asciiDomain(text.slice(at + 1)) !== undefined
}

/** A mailbox as it is written where letters beyond ASCII are not known: its domain in punycode. */
export function wireMailbox(mailbox: string): string {
  const at = mailbox.lastIndexOf('@')
  const domain = mailbox.slice(at + 1)
  return `${mailbox.slice(0, at)}@${asciiDomain(domain) ?? domain}`
}

function asciiDomain(text: string): string | undefined {
  if (NOT_A_HOST.test(text)) return undefined
  const hostname = URL.parse(`http://${text}`)?.hostname
  return hostname !== undefined && LABELS.test(hostname) && !/^[\d.]+$/.test(hostname) ? hostname : undefined
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).byteLength
}
