const LONGEST = 512
/** U+0000, and surrogates, which are no text alone. */
const SUSPECT = /[\0\ud800-\udfff]/

/** A text of a client, such as a header, as a database can hold it, and not too much of it. */
export function storableText(text: string | null | undefined): string | null {
  return text ? text.slice(0, LONGEST).toWellFormed().replaceAll('\0', '\ufffd') : null
}

/** A text, shortened and without characters that a database cannot hold. */
export function keepable(text: string, most: number): string {
  if (text.length <= most && !SUSPECT.test(text)) return text
  return text.slice(0, most).toWellFormed().replaceAll('\0', '')
}
