import { asciiDomain } from '../../../config/ascii-domain.ts'

/** The form of an address by which accounts are found. Addresses are the same person's if they differ only in case, or in
 *  how the domain is written: what people type as `müller.example`, browsers and identity providers may send as
 *  `xn--mller-kva.example`. */
export function emailKey(email: string): string {
  const text = email.normalize('NFC').trim().toLowerCase()
  const at = text.lastIndexOf('@') + 1
  const domain = text.slice(at)
  return text.slice(0, at) + (asciiDomain(domain) ?? domain)
}
