const LONGEST_BYTES = 100 * 1024

/** A message's body as JSON, or an error that says why it cannot be sent: every queue takes exactly the same ones. */
export function encodeBody(body: unknown): string {
  const text: string | undefined = JSON.stringify(body)
  if (text === undefined) throw new TypeError('The body of a message must be JSON.')
  const bytes = new TextEncoder().encode(text).length
  if (bytes > LONGEST_BYTES) {
    throw new RangeError(
      `The body of a message is at most ${LONGEST_BYTES} bytes of JSON, not ${bytes}. Keep it in a blob.`,
    )
  }
  return text
}
