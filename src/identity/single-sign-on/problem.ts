/** What a person is told about a login that did not come about. */
export type SignOnProblemCode =
  | 'state_expired'
  | 'store_away'
  | 'provider_unreachable'
  | 'provider_refused'
  | 'unverified_email'
  | 'unproved_email'
  | 'address_taken'
  | 'account_disabled'
  | 'not_invited'
  | 'blocked_domain'

/** A login at an identity provider did not come about. `reason` is for the audit: never a token, a code or a claim. */
export class SignOnProblem extends Error {
  override readonly name = 'SignOnProblem'
  readonly code: SignOnProblemCode
  readonly reason: string

  constructor(code: SignOnProblemCode, reason: string, options?: ErrorOptions) {
    super(`${code}: ${reason}`, options)
    this.code = code
    this.reason = reason
  }
}
