import { KEY_BYTES, newSalt, storedText } from '../../src/identity/passwords/stored-password.ts'
import { scrypt } from '../../src/lib/crypto.ts'

/** A password that every rule takes. */
export const PASSWORD = 'correct horse battery staple'

/** What is kept of a password, at a cost that tests which compare no times can afford. */
export async function keptCheaply(password = PASSWORD): Promise<string> {
  const input = { cost: 2, blockSize: 1, parallelization: 1, salt: newSalt() }
  return storedText({ ...input, key: await scrypt({ ...input, password, keyBytes: KEY_BYTES }) })
}
