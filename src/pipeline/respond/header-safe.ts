/** Names come from the operator and may hold any character; header values must be printable ASCII. */
export function headerSafe(name: string): string {
  return /^[\x20-\x7e]*$/.test(name) ? name : encodeURIComponent(name)
}
