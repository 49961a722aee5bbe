import { createTOTPKeyURI, verifyHOTP } from '@oslojs/otp'
import { fromBase32, toBase32 } from '../../lib/bytes/base32.ts'

const DIGITS = 6
const STEP_SECONDS = 30
/** How many time steps an authenticator's clock may be fast or slow. */
const STEPS_OFF = 1
const SECRET_BYTES = 20

/** The letters of recovery codes, without those that look like another one. */
const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz'
const HALF = 5
export const RECOVERY_CODES = 10

export function newSecret(): string {
  return toBase32(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
}

/** The address that authenticator apps read from a QR code. */
export function otpauthUrl(secret: string, { issuer, account }: { issuer: string; account: string }): string {
  // A colon would divide issuer and account. Most apps do not read a plus as a space.
  const [by, of] = [issuer, account].map((name) => name.replaceAll(':', ' ')) as [string, string]
  return createTOTPKeyURI(by, of, fromBase32(secret), STEP_SECONDS, DIGITS).replaceAll('+', '%20')
}

/** The time step near `now` at which the secret has this code; undefined if there is none. */
export function stepOf(code: string, secret: string, now: number): number | undefined {
  const key = fromBase32(secret)
  const current = Math.floor(now / (1000 * STEP_SECONDS))
  const steps = Array.from({ length: 2 * STEPS_OFF + 1 }, (_, index) => current - STEPS_OFF + index)
  return steps.find((step) => verifyHOTP(key, BigInt(step), DIGITS, code))
}

/** 50 random bits as `xxxxx-xxxxx`. */
export function newRecoveryCode(): string {
  const random = crypto.getRandomValues(new Uint8Array(2 * HALF))
  const letters = Array.from(random, (byte) => LETTERS[byte % LETTERS.length]).join('')
  return `${letters.slice(0, HALF)}-${letters.slice(HALF)}`
}

/** Reads typed text as either kind of code; undefined if it is neither. */
export function readCode(typed: string): { kind: 'totp' | 'recovery_code'; code: string } | undefined {
  if (typed.length > 64) return undefined
  const code = typed.replace(/[ -]/g, '')
  if (/^[0-9]{6}$/.test(code)) return { kind: 'totp', code }
  const letters = code.toLowerCase().replaceAll('o', '0').replace(/[il]/g, '1')
  return /^[0-9a-hjkmnp-tv-z]{10}$/.test(letters) ? { kind: 'recovery_code', code: letters } : undefined
}
