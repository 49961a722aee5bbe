import { reveal, type Secret } from '../lib/secret.ts'

/** Headers as they go on the wire: the one place where credentials of an upstream are opened. */
export function openHeaders(sealed: Readonly<Record<string, string | Secret>>): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const name in sealed) {
    const value = sealed[name] as string | Secret
    headers[name] = typeof value === 'string' ? value : reveal(value)
  }
  return headers
}
