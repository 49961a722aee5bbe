/** The parts of `Name <address>`, or of an address alone. */
export function mailboxOf(sender: string): { readonly name: string; readonly address: string } {
  const [, name = '', address = sender] = /^([^<>]*)<([^<>]*)>$/.exec(sender) ?? []
  return { name: name.trim().replace(/^"(.*)"$/, '$1'), address: address.trim() }
}
