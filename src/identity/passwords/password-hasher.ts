import type { ScryptInput } from '../../lib/crypto.ts'

/** Runs scrypt where a runtime can do so without holding up model calls. */
export interface PasswordHasher {
  /** How many derivations it takes at once; whoever has more waits. undefined: the runtime runs one after the other by
   *  itself, and no request may wait there for another one. */
  readonly atOnce: number | undefined
  derive(input: ScryptInput): Promise<Uint8Array>
}
