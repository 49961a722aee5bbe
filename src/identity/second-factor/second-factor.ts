import type { Seal } from '../../lib/seal.ts'
import type { SharedStore } from '../../stores/kv/shared-store.ts'
import type { Proof, SecondFactorRecords } from '../../stores/sql/people/second-factor-records.ts'
import { readCode, stepOf } from './codes.ts'
import { countCode } from './throttle.ts'

/** The second factor of people's accounts: codes of an authenticator, and recovery codes for those who have lost it. */
export interface SecondFactor {
  /** Whether a code proves the factor of an account; it does so once. Throws where too many were tried. */
  prove(accountId: string, code: string): Promise<boolean>
}

export function secondFactor(options: {
  readonly records: SecondFactorRecords
  readonly store: Pick<SharedStore, 'admit'>
  readonly seal: Seal
  readonly hash: (text: string) => string
  readonly now: () => number
}): SecondFactor {
  const { records, store, seal, hash, now } = options

  /** What a code can prove, unless it was used before. */
  async function proofOf(accountId: string, typed: string): Promise<Proof | undefined> {
    const read = readCode(typed)
    if (!read) return undefined
    await countCode(store, accountId)
    const { kind, code } = read
    if (kind === 'recovery_code') return { kind, codeHash: hash(`recovery code of ${accountId}: ${code}`) }
    const secret = await records.secret(accountId)
    if (!secret?.enabled || secret.totp_sealed === null) return undefined
    const step = stepOf(code, await seal.open(secret.totp_sealed, placeOf(accountId)), now())
    return step === undefined ? undefined : { kind, sealed: secret.totp_sealed, step }
  }

  return {
    async prove(accountId, code) {
      const proof = await proofOf(accountId, code)
      return proof !== undefined && records.use(accountId, proof)
    },
  }
}

/** Where a sealed secret belongs: it opens for no other account. */
function placeOf(accountId: string): string {
  return `second factor of ${accountId}`
}
