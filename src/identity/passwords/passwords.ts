import { GatewayError } from '../../lib/errors.ts'
import { lazily } from '../../lib/lazily.ts'
import type { PasswordHasher } from './password-hasher.ts'
import { normalized, requireGood } from './password-rules.ts'
import { COST, isKeyOf, KEY_BYTES, newSalt, readStored, type StoredPassword, storedText } from './stored-password.ts'
import { type WaitingLine, waitingLine } from './waiting-line.ts'

/** For each that is hashed at once: a few seconds of work. */
const WAITING_EACH = 32
const LONGEST_WAIT_MS = 8000

/** People's passwords, as scrypt keeps them. */
export interface Passwords {
  /** Throws where too many wait already: before anything is asked of the database for one more. */
  requireRoom(): void
  /** The text that is kept of a new password. Throws the refusal of one that is easy to guess; `param` names the field
   *  that it came in. */
  hash(password: string, email: string, param?: string): Promise<string>
  /** The same of a password that the operator gave, and that is good for one login: whatever it is. */
  hashGiven(password: string): Promise<string>
  /** Whether a text was kept of this password. Where there is none, or none that can be read, the answer takes as long. */
  verify(password: string, stored: string | null | undefined): Promise<boolean>
}

/** Where the runtime itself lets one wait for the other. */
const NO_LINE: WaitingLine = { requireRoom() {}, run: (work) => work() }

/** All throw a failure that says when to come again where more passwords wait than are soon hashed. */
export function passwords({ atOnce, derive }: PasswordHasher): Passwords {
  const line =
    atOnce === undefined
      ? NO_LINE
      : waitingLine({ atOnce, mostWaiting: WAITING_EACH * atOnce, longestMs: LONGEST_WAIT_MS, refused: tooMany })
  const nobodys = lazily((): StoredPassword => {
    return { ...COST, salt: newSalt(), key: crypto.getRandomValues(new Uint8Array(KEY_BYTES)) }
  })
  async function hashGiven(password: string): Promise<string> {
    const salt = newSalt()
    const input = { ...COST, salt, password: normalized(password), keyBytes: KEY_BYTES }
    return storedText({ ...COST, salt, key: await line.run(() => derive(input)) })
  }
  return {
    requireRoom: line.requireRoom,
    async hash(password, email, param = 'password') {
      requireGood(password, email, param)
      return hashGiven(password)
    },
    hashGiven,
    async verify(password, text) {
      const stored = (text && readStored(text)) || nobodys()
      const { key, ...parameters } = stored
      const input = { ...parameters, password: normalized(password), keyBytes: key.byteLength }
      return isKeyOf(stored, await line.run(() => derive(input)))
    },
  }
}

function tooMany(): GatewayError {
  return new GatewayError('overloaded', 'Too many people are signing in at this moment. Try again shortly.', {
    code: 'too_many_sign_ins',
    retryAfterSeconds: 5,
  })
}
