const LONGEST = 512

/** A text of a client, such as a header, as a database can hold it, and not too much of it. */
export function storableText(text: string | null | undefined): string | null {
  return text ? text.slice(0, LONGEST).toWellFormed().replaceAll('\0', '\ufffd') : null
}
