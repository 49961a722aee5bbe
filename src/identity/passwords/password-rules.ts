import { GatewayError } from '../../lib/errors.ts'
import { isCommonPassword } from './common-passwords.ts'

export const SHORTEST_PASSWORD = 12
const LONGEST_PASSWORD = 1024
/** Shorter names of mailboxes are not looked for: passwords may contain them by chance. */
const SHORTEST_NAME = 3

/** A password as it is compared, in Unicode's normal form: keyboards write the same letter differently. */
export function normalized(password: string): string {
  return password.normalize('NFKC')
}

type Objection = readonly [code: string, message: string]

/** Refuses a new password that is easy to guess. `param` is the field that it came in. */
export function requireGood(password: string, email: string, param: string): void {
  const objection = objectionTo(password, email)
  if (objection) throw new GatewayError('invalid_request', objection[1], { param, code: objection[0] })
}

function objectionTo(password: string, email: string): Objection | undefined {
  if (!password.isWellFormed()) return ['password_unreadable', 'The password holds half a character.']
  // A text that is far too long stays so, and is not worth normalizing.
  const text = password.length > 4 * LONGEST_PASSWORD ? password : normalized(password)
  const characters = [...text]
  if (characters.length < SHORTEST_PASSWORD)
    return ['password_too_short', `The password needs at least ${SHORTEST_PASSWORD} characters.`]
  if (characters.length > LONGEST_PASSWORD)
    return ['password_too_long', `The password has more than ${LONGEST_PASSWORD} characters.`]
  const folded = text.toLowerCase()
  if (new Set(folded).size === 1) return ['password_repeats', 'The password is one character, repeated.']
  const name = nameOf(email)
  if (name.length >= SHORTEST_NAME && folded.includes(name))
    return ['password_contains_email', 'The password contains the name in your e-mail address.']
  if (isCommonPassword(folded)) return ['password_too_common', 'Many people use this password. Choose another one.']
  return undefined
}

function nameOf(email: string): string {
  const at = email.lastIndexOf('@')
  return normalized(at < 0 ? email : email.slice(0, at))
    .trim()
    .toLowerCase()
}
