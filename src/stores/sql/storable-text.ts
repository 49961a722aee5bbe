const LONGEST = 512

/** A text of a client, such as a header, as a database can hold it, and not too much of it. */
export function storableText(text: string | null | undefined): string | null {
  return text ? text.slice(0, LONGEST).toWellFormed().replaceAll('\0', '\ufffd') : null
}

/** A text, shortened and without characters that a database cannot hold. */
export function keepable(text: string, most: number): string {
  return text.slice(0, most).toWellFormed().replaceAll('\0', '')
}
