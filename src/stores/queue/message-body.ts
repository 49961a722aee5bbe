const encoder = new TextEncoder()
const LONGEST_BYTES = 100 * 1024

/** Whether a body can be sent, as far as its length is concerned. */
export function isShortEnough(body: unknown): boolean {
  return encoder.encode(JSON.stringify(body)).length <= LONGEST_BYTES
}

/** The body of a message as JSON. Throws if it cannot be sent; the rules are the same for every queue. */
export function encodeBody(body: unknown): string {
  const text: string | undefined = JSON.stringify(body)
  if (text === undefined) throw new TypeError('The body of a message must be JSON.')
  // A character takes three bytes at most.
  if (text.length <= LONGEST_BYTES / 3) return text
  const bytes = encoder.encode(text).length
  if (bytes > LONGEST_BYTES) {
    throw new RangeError(
      `The body of a message is at most ${LONGEST_BYTES} bytes of JSON, not ${bytes}. Keep it in a blob.`,
    )
  }
  return text
}
