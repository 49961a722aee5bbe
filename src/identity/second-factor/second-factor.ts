import type { Seal } from '../../lib/sealing/seal.ts'
import type { SharedStore } from '../../stores/kv/shared-store.ts'
import type { Proof, SecondFactorRecords } from '../../stores/sql/people/second-factor-records.ts'
import type { AccountSession } from '../session-caller.ts'
import { accountRecord, sessionRecord } from '../sessions/session-of.ts'
import type { OpenedSession, SessionClient, Sessions } from '../sessions/sessions.ts'
import { newRecoveryCode, newSecret, RECOVERY_CODES, readCode, stepOf } from './codes.ts'
import { countCode } from './throttle.ts'

/** The second factor of accounts: codes of an authenticator, and recovery codes for people who have lost it. One
 *  statement uses a code up and does what the code permits. Every method that takes a code throws after too many
 *  attempts. */
export interface SecondFactor {
  /** Whether a code proves the factor of an account; it does so once. */
  prove(accountId: string, code: string): Promise<boolean>
  /** Replaces the session by a verified one. undefined: the code is wrong. */
  verify(session: AccountSession, code: string, client: SessionClient): Promise<OpenedSession | undefined>
  /** Starts an enrollment with a new secret, which replaces that of an earlier one. undefined: the account has a
   *  factor. */
  start(accountId: string): Promise<string | undefined>
  /** Activates the secret of the enrollment with a code of it, and replaces the session by a verified one. The account's
   *  other sessions must be verified from then on. undefined: the code is wrong. */
  confirm(
    session: AccountSession,
    code: string,
    client: SessionClient,
  ): Promise<{ readonly opened: OpenedSession; readonly recoveryCodes: readonly string[] } | undefined>
  /** Removes the factor. False: the code is wrong. */
  disable(accountId: string, code: string): Promise<boolean>
  /** New recovery codes in the place of the old ones. undefined: the code is wrong. */
  renewRecoveryCodes(accountId: string, code: string): Promise<readonly string[] | undefined>
  /** Removes the factor of a person who cannot prove it, and ends all sessions of the account. `everywhere` is false if
   *  other processes apply that later. undefined: there is no such account. */
  reset(accountId: string): Promise<{ readonly ended: number; readonly everywhere: boolean } | undefined>
}

export function secondFactor(options: {
  readonly records: SecondFactorRecords
  readonly sessions: Pick<Sessions, 'open'>
  readonly store: Pick<SharedStore, 'admit' | 'publish'>
  readonly seal: Seal
  readonly hash: (text: string) => string
  readonly now: () => number
}): SecondFactor {
  const { records, sessions, store, seal, hash, now } = options

  /** The time step of an authenticator's code. */
  async function provenStep(accountId: string, code: string, enabled: boolean) {
    const secret = await records.secret(accountId)
    if (secret?.enabled !== enabled || secret.totp_sealed === null) return undefined
    const step = stepOf(code, await seal.open(secret.totp_sealed, placeOfSecondFactor(accountId)), now())
    return step === undefined ? undefined : { sealed: secret.totp_sealed, step }
  }

  /** Uses a code up; false if it is wrong or was used before. */
  async function proving<Given>(
    accountId: string,
    typed: string,
    use: (proof: Proof) => Promise<Given | undefined>,
  ): Promise<Given | undefined> {
    const read = readCode(typed)
    if (!read) return undefined
    await countCode(store, accountId)
    if (read.kind === 'recovery_code') return use({ kind: 'recovery_code', codeHash: hashOf(accountId, read.code) })
    return stepping(accountId, read.code, true, (proven) => use({ kind: 'totp', ...proven }))
  }

  /** Uses the time step of an authenticator's code. Tries again if the secret was sealed anew since it was read. */
  async function stepping<Given>(
    accountId: string,
    code: string,
    enabled: boolean,
    use: (proven: { readonly sealed: string; readonly step: number }) => Promise<Given | undefined>,
  ): Promise<Given | undefined> {
    const proven = await provenStep(accountId, code, enabled)
    const given = proven && (await use(proven))
    if (!proven || given !== undefined) return given
    const again = await provenStep(accountId, code, enabled)
    return again && again.sealed !== proven.sealed ? use(again) : undefined
  }

  function hashOf(accountId: string, code: string): string {
    return hash(`recovery code of ${accountId}: ${readCode(code)?.code}`)
  }

  function newCodes(accountId: string) {
    const recoveryCodes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode)
    return { recoveryCodes, codeHashes: recoveryCodes.map((code) => hashOf(accountId, code)) }
  }

  const verified = ({ account: { accountId }, sessionId, method }: AccountSession) =>
    ({ accountId, method, mfaVerified: true, replaces: sessionId }) as const

  return {
    async prove(accountId, code) {
      const used = await proving(accountId, code, async (proof) => (await records.use(accountId, proof)) || undefined)
      return used !== undefined
    },
    async verify(session, code, client) {
      const { accountId } = session.account
      return proving(accountId, code, (proof) =>
        sessions.open({ ...verified(session), given: records.using(accountId, proof, session.sessionId) }, client),
      )
    },
    async start(accountId) {
      const secret = newSecret()
      const kept = await records.start(accountId, await seal.close(secret, placeOfSecondFactor(accountId)))
      return kept ? secret : undefined
    },
    async confirm(session, typed, client) {
      const { accountId } = session.account
      const read = readCode(typed)
      if (read?.kind !== 'totp') return undefined
      await countCode(store, accountId)
      const { recoveryCodes, codeHashes } = newCodes(accountId)
      const opened = await stepping(accountId, read.code, false, (proven) => {
        const given = records.enabling(accountId, { ...proven, codeHashes }, session.sessionId)
        return sessions.open({ ...verified(session), given }, client)
      })
      return opened && { opened, recoveryCodes }
    },
    async disable(accountId, code) {
      const version = await proving(accountId, code, (proof) => records.disable(accountId, proof))
      if (version === undefined) return false
      await store.publish({ records: [{ record: accountRecord(accountId), version: Number(version) }], removed: [] })
      return true
    },
    async renewRecoveryCodes(accountId, code) {
      const { recoveryCodes, codeHashes } = newCodes(accountId)
      return proving(accountId, code, async (proof) =>
        (await records.renew(accountId, proof, codeHashes)) ? recoveryCodes : undefined,
      )
    },
    async reset(accountId) {
      const changed = await records.reset(accountId)
      if (!changed) return undefined
      const { version, ended } = changed
      const sessionsEnded = ended.map((one) => ({ record: sessionRecord(one.session_id), version: one.version }))
      const account = { record: accountRecord(accountId), version: Number(version) }
      const everywhere = await store.publish({ records: [account, ...sessionsEnded], removed: [] })
      return { ended: ended.length, everywhere }
    },
  }
}

/** The context that a secret is sealed with: it opens for this account alone. */
export function placeOfSecondFactor(accountId: string): string {
  return `second factor of ${accountId}`
}
