const BYTES = 32

/** `sk-` and 256 random bits, as 43 characters of base64url. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES))
  const base64 = btoa(String.fromCharCode(...bytes))
  return `sk-${base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`
}
