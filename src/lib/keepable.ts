/** A text, shortened and without characters that a database cannot hold. */
export function keepable(text: string, most: number): string {
  return text.slice(0, most).toWellFormed().replaceAll('\0', '')
}
