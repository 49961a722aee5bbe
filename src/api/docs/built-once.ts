import { digestOf } from '../../lib/crypto.ts'
import { lazily } from '../../lib/lazily.ts'
import type { Answer } from '../../pipeline/answer.ts'

const encoder = new TextEncoder()

/** Answers a document that stays the same while the process lives: written at its first request, never again. Whoever has
 *  it already is told so by its entity tag. */
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
    if (names(ifNoneMatch, etag)) return { status: 304, headers, body: new Uint8Array() }
    return { status: 200, headers: { ...headers, 'content-type': contentType }, body }
  }
}

/** The comparison of If-None-Match is weak: a proxy that compresses marks the tag as such. */
function names(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return ifNoneMatch.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag)
}
