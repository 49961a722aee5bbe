/** What stands in the place of a secret, wherever one would be shown. */
export const MASK = '[secret]'

const values = new WeakMap<Secret, string>()

/** A credential in memory. It prints as `[secret]`; only `reveal` returns its text. */
export interface Secret {
  readonly kind: 'secret'
  toString(): string
  toJSON(): string
}

export function secret(value: string): Secret {
  return secretShownAs(MASK, value)
}

/** A text with a credential in it, which prints as it may be shown. */
export function secretShownAs(shown: string, value: string): Secret {
  const sealed: Secret = Object.freeze({ kind: 'secret' as const, toString: () => shown, toJSON: () => shown })
  values.set(sealed, value)
  return sealed
}

export function isSecret(value: unknown): value is Secret {
  return typeof value === 'object' && value !== null && values.has(value as Secret)
}

/** Whether two secrets hold the same text. */
export function sameSecret(one: Secret, other: Secret): boolean {
  return one === other || values.get(one) === values.get(other)
}

/** The text of a secret. Call it only where the credential is used or leaves the process. */
export function reveal(sealed: Secret): string {
  const value = values.get(sealed)
  if (value === undefined) throw new TypeError('not a secret made by secret()')
  return value
}
