/** What an address is found by: mailboxes that differ in case alone are the same person. */
export function emailKey(email: string): string {
  return email.normalize('NFC').trim().toLowerCase()
}
