const values = new WeakMap<Secret, string>()

/** Key material in transit: prints as `[secret]` wherever it lands; only `reveal` opens it. */
export interface Secret {
  readonly kind: 'secret'
  toString(): string
  toJSON(): string
}

export function secret(value: string): Secret {
  const sealed: Secret = Object.freeze({
    kind: 'secret' as const,
    toString: () => '[secret]',
    toJSON: () => '[secret]',
  })
  values.set(sealed, value)
  return sealed
}

/** Whether two hold the same text, without showing it. */
export function sameSecret(one: Secret, other: Secret): boolean {
  return one === other || values.get(one) === values.get(other)
}

/** The only way to the text. Called where a credential leaves the process, nowhere else. */
export function reveal(sealed: Secret): string {
  const value = values.get(sealed)
  if (value === undefined) throw new TypeError('not a secret made by secret()')
  return value
}
