/** Control characters but tab and line break, marks that turn the direction of writing, and characters that nobody sees:
 *  what could hide a text from the people who read it. */
const HIDDEN = /[\p{Cc}\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu
const KEPT = new Set(['\n', '\t'])

/** A foreign text of at most `most` characters, without what would hide in it. */
export function plainText(text: string, most: number): string {
  // Cut first: a text may have megabytes.
  const cut = text.length > most ? `${text.slice(0, most)}…` : text
  return cut.toWellFormed().replace(HIDDEN, (found) => (KEPT.has(found) ? found : ''))
}

export function hasHidden(text: string): boolean {
  return text.search(HIDDEN) !== -1 || !text.isWellFormed()
}
