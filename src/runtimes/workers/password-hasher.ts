import type { PasswordHasher } from '../../identity/passwords/password-hasher.ts'
import { scrypt } from '../../lib/crypto.ts'

/** Within the isolate, which derives one key after the other: 16 MiB and a tenth of a second of CPU time each. */
export const isolateHasher: PasswordHasher = { atOnce: undefined, derive: scrypt }
