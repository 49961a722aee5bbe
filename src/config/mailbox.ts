import { asciiDomain } from './ascii-domain.ts'

const LONGEST = 254
const LONGEST_LOCAL = 64
const LOCAL = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u

/** Whether a text is an e-mail address that people have: `name@example.com`, letters of any script on both sides.
 *  Neither quoted names nor numbers in the place of a domain, and nothing that a header could be made of. */
export function isMailbox(text: string): boolean {
  const at = text.lastIndexOf('@')
  const local = text.slice(0, at)
  if (at < 1 || byteLength(text) > LONGEST || byteLength(local) > LONGEST_LOCAL) return false
  const domain = asciiDomain(text.slice(at + 1))
  return LOCAL.test(local) && domain !== undefined && !/^[\d.]+$/.test(domain)
}

/** A mailbox as it is written where letters beyond ASCII are not known: its domain in punycode. */
export function wireMailbox(mailbox: string): string {
  const at = mailbox.lastIndexOf('@')
  const domain = mailbox.slice(at + 1)
  return `${mailbox.slice(0, at)}@${asciiDomain(domain) ?? domain}`
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).byteLength
}
