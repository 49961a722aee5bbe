import { reveal, type Secret } from '../lib/secret.ts'

/** Counts the gateways that a call has passed. */
export const HOPS_HEADER = 'x-gateway-hops'

/** Headers as they are sent: the one place where credentials of an upstream are revealed. */
export function openHeaders(sealed: Readonly<Record<string, string | Secret>>): Record<string, string> {
  const headers: Record<string, string> = { [HOPS_HEADER]: '1' }
  for (const name in sealed) {
    const value = sealed[name] as string | Secret
    headers[name] = typeof value === 'string' ? value : reveal(value)
  }
  return headers
}
