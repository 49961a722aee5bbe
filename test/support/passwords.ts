import type { PasswordHasher } from '../../src/identity/passwords/password-hasher.ts'
import { KEY_BYTES, newSalt, storedText } from '../../src/identity/passwords/stored-password.ts'
import { scrypt } from '../../src/lib/crypto.ts'

/** A password that every rule takes. */
export const PASSWORD = 'correct horse battery staple'

/** What tests that compare no times can afford. */
const CHEAP = { cost: 2, blockSize: 1, parallelization: 1 } as const

/** Another key for each password and salt, as the one that it stands for, with as many at once; whatever it should cost. */
export function cheapHasher({ atOnce }: Pick<PasswordHasher, 'atOnce'>): PasswordHasher {
  return { atOnce, derive: (input) => scrypt({ ...input, ...CHEAP }) }
}

/** What is kept of a password, at that cost. */
export async function keptCheaply(password = PASSWORD): Promise<string> {
  const input = { ...CHEAP, salt: newSalt() }
  return storedText({ ...input, key: await scrypt({ ...input, password, keyBytes: KEY_BYTES }) })
}
