import type { ScryptInput } from '../../lib/crypto.ts'

/** Runs scrypt without delaying model calls, in the way of the runtime. */
export interface PasswordHasher {
  /** The number of derivations that run at once; further ones wait. undefined if the runtime itself runs one after the
   *  other and requests cannot wait for each other. */
  readonly atOnce: number | undefined
  derive(input: ScryptInput): Promise<Uint8Array>
}
