/** The form of an address by which accounts are found: addresses that differ only in case are the same person. */
export function emailKey(email: string): string {
  return email.normalize('NFC').trim().toLowerCase()
}
