import { GatewayError } from '../../lib/errors.ts'
import { lazily } from '../../lib/lazily.ts'
import type { PasswordHasher } from './password-hasher.ts'
import { normalized, requireGood } from './password-rules.ts'
import { COST, isKeyOf, KEY_BYTES, newSalt, readStored, type StoredPassword, storedText } from './stored-password.ts'
import { type WaitingLine, waitingLine } from './waiting-line.ts'

/** How many may wait for each that is hashed at a time: a few seconds of work. */
const WAITING_EACH = 32
const LONGEST_WAIT_MS = 8000

/** Hashes and compares passwords. */
export interface Passwords {
  /** Throws if too many wait already, so that a request is refused before it asks the database. */
  requireRoom(): void
  /** The hash of a new password as text. Throws the refusal of one that is easy to guess; `param` names its field. */
  hash(password: string, email: string, param?: string): Promise<string>
  /** The same for a password of the configuration file, which must be changed after its first login: not checked. */
  hashGiven(password: string): Promise<string>
  /** Whether a stored text is the hash of this password. Takes as long without one, or with one that cannot be read. */
  verify(password: string, stored: string | null | undefined): Promise<boolean>
}

/** The line of runtimes that run one derivation after the other by themselves. */
const NO_LINE: WaitingLine = { requireRoom() {}, run: (work) => work() }

/** Every method throws a failure with a Retry-After where too many passwords wait. */
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
