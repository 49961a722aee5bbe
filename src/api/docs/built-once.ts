import { digestOf } from '../../lib/crypto.ts'
import { lazily } from '../../lib/lazily.ts'
import type { Answer } from '../../pipeline/answer.ts'

const encoder = new TextEncoder()

/** Answers a document that is written once, at its first request. A client with the same entity tag gets a 304. */
export function builtOnce(
  contentType: string,
  write: () => string,
  more: Readonly<Record<string, string>> = {},
): (ifNoneMatch: string | undefined) => Answer {
  const document = lazily(() => {
    const text = write()
    return { body: encoder.encode(text), etag: `"${digestOf(text).slice(0, 32)}"` }
  })
  return (ifNoneMatch) => {
    const { body, etag } = document()
    const headers = { ...more, etag, 'cache-control': 'no-cache' }
    if (matches(ifNoneMatch, etag)) return { status: 304, headers, body: new Uint8Array() }
    return { status: 200, headers: { ...headers, 'content-type': contentType }, body }
  }
}

/** Compares If-None-Match weakly: a compressing proxy marks the tag as weak. */
function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return ifNoneMatch.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag)
}
