import { elapsedMs } from '../../lib/clock.ts'
import { digestOf } from '../../lib/crypto.ts'
import { GatewayError } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { reveal, type Secret } from '../../lib/secret.ts'
import { mayBeToken, newToken } from '../../lib/token.ts'
import { expiringMap } from '../../stores/kv/in-process/expiring-map.ts'
import type { RecordVersion, SharedStore } from '../../stores/kv/shared-store.ts'
import type { Given } from '../../stores/sql/people/given.ts'
import {
  type EndedSession,
  IDLE_SECONDS,
  type SessionMethod,
  type SessionRecords,
  type StoredSession,
} from '../../stores/sql/people/session-records.ts'
import { SqlError } from '../../stores/sql/sql.ts'
import { storableText } from '../../stores/sql/storable-text.ts'
import type { FailedAttempts } from '../failed-attempts.ts'
import type { MasterKeys } from '../master-caller.ts'
import { refusal } from '../refusal.ts'
import type { SessionCaller } from '../session-caller.ts'
import { accountRecord, type RequireMfa, sessionCallerOf, sessionRecord } from './session-of.ts'

/** The longest life of a session, however much it is used. */
const LIFE_SECONDS = 7 * 24 * 3600
/** The life of a session that was opened with the master key: for setting up an installation. */
const MASTER_KEY_LIFE_SECONDS = 3600

const REMEMBERED_MS = 600_000
const UNKNOWN_MS = 30_000
const MOST_REMEMBERED = 10_000
/** The interval at which the last use of a session is stored. */
const NOTED_EVERY_MS = 300_000

/** The client of a session's request. */
export interface SessionClient {
  readonly address: string
  readonly userAgent: string | undefined
  /** Keeps the runtime alive for work that the answer does not wait for. */
  defer(work: Promise<unknown>): void
}

export interface SessionOpening {
  /** undefined: it acts as the master key. */
  readonly accountId: string | undefined
  readonly method: SessionMethod
  readonly mfaVerified: boolean
  /** The hash of the password that was proved: a password that was changed meanwhile opens no session. */
  readonly passwordHash?: string | undefined
  /** The session that this one replaces and ends. The new one lives no longer than that would have. */
  readonly replaces?: string
  /** Goes with `replaces`: a condition, and a change to make in the same statement. */
  readonly given?: Given
}

export interface OpenedSession {
  readonly token: string
  readonly seconds: number
  readonly caller: SessionCaller
}

/** Browser sessions: finds the caller of a cookie in this process's memory, else in the database. Every request
 *  compares the cached session with the shared store, so that the end of a session or a change of its account applies
 *  from the next request on, in every process. */
export interface Sessions {
  /** The live session of a cookie, or throws. */
  find(token: string, client: SessionClient): SessionCaller | Promise<SessionCaller>
  /** Opens a session. undefined: its account is not active, or has another password by now; the session that it replaces
   *  has ended, or the condition of `given` does not hold. */
  open(opening: SessionOpening, client: SessionClient): Promise<OpenedSession | undefined>
  /** Ends a live session; with `accountId` only one of that account. False: there is none. */
  end(sessionId: string, accountId?: string): Promise<boolean>
  /** Ends all sessions of an account but one; says how many. */
  endAll(accountId: string, except?: string): Promise<number>
}

interface Remembered {
  readonly caller: SessionCaller
  lastUsedAt: number
  notedAt: number
}

export function sessions(options: {
  readonly hash: (token: string) => string
  readonly records: SessionRecords
  readonly store: Pick<SharedStore, 'publish'>
  readonly masterKeys: Pick<MasterKeys, 'now' | 'previous'>
  readonly requireMfa: RequireMfa
  readonly graceMs: number
  readonly attempts: Pick<FailedAttempts, 'failed' | 'refused'>
  readonly now: () => number
}): Sessions {
  const { hash, records, store, masterKeys, requireMfa, graceMs, attempts, now } = options
  const remembered = expiringMap<Remembered>(now, MOST_REMEMBERED)
  const unknown = expiringMap<true>(now, MOST_REMEMBERED)

  /** The hash of a token of the master key, which nobody finds any more once that key is replaced. */
  const hashUnder = (key: Secret, token: string) => hash(`session of ${reveal(key)}: ${token}`)

  function hashesOf(token: string): readonly string[] {
    const keys = [masterKeys.now, masterKeys.previous].filter((key) => key !== undefined)
    return [hash(token), ...keys.map((key) => hashUnder(key, token))]
  }

  /** While a former master key is accepted too, a session of either ends with it. */
  function newHash(token: string, accountId: string | undefined): string {
    const key = masterKeys.previous ?? masterKeys.now
    return accountId === undefined && key ? hashUnder(key, token) : hash(token)
  }

  function remember(digest: string, token: string, stored: StoredSession, readAt: number): SessionCaller {
    const caller: SessionCaller = sessionCallerOf(stored, {
      requireMfa,
      readAt,
      confirmedAt: readAt,
      again: () => read(digest, token),
      confirmed: () => confirmed(digest, token, caller),
    })
    const notedAt = Date.parse(stored.last_used_at)
    remembered.set(digest, { caller, lastUsedAt: Math.max(notedAt, readAt), notedAt }, readAt + REMEMBERED_MS)
    return caller
  }

  async function read(digest: string, token: string): Promise<SessionCaller> {
    remembered.delete(digest)
    const readAt = now()
    const stored = await records.byTokenHash(hashesOf(token))
    if (stored?.alive) return remember(digest, token, stored, readAt)
    unknown.set(digest, true, now() + UNKNOWN_MS)
    throw ended()
  }

  /** Reads a session that this process does not remember. An address that sends too many cookies of no session has none
   *  looked up for a while. */
  async function found(digest: string, token: string, client: SessionClient): Promise<SessionCaller> {
    const { address } = client
    try {
      if (!mayBeToken(token) || unknown.get(digest)) throw ended()
      const refused = attempts.refused(address)
      if (refused) throw refused
      const caller = await read(digest, token)
      const entry = remembered.get(digest)
      if (entry) noteUse(entry, client)
      return caller
    } catch (error) {
      const isUnknown = error instanceof GatewayError && error.failure === 'authentication'
      throw (isUnknown && attempts.failed(address)) || error
    }
  }

  /** Where the database is away too, a session stays good for as long as a key would. */
  async function confirmed(digest: string, token: string, caller: SessionCaller): Promise<SessionCaller> {
    try {
      return await read(digest, token)
    } catch (error) {
      const isAway = error instanceof SqlError && error.isAway
      if (isAway && now() - caller.confirmedAt < graceMs) return caller
      throw error
    }
  }

  function isOver({ caller, lastUsedAt }: Remembered): boolean {
    return now() >= Date.parse(caller.session.expiresAt) || now() - lastUsedAt > 1000 * IDLE_SECONDS
  }

  /** Stores the use beside the request, which does not wait for it. If it fails, the session merely seems idle for
   *  longer. */
  function noteUse(entry: Remembered, client: SessionClient): void {
    const time = now()
    entry.lastUsedAt = time
    if (elapsedMs(entry.notedAt, time) < NOTED_EVERY_MS) return
    entry.notedAt = time
    const { sessionId } = entry.caller.session
    client.defer(records.touch(sessionId, origin(client)).catch(() => {}))
  }

  async function publishEnded(
    sessionsEnded: readonly EndedSession[],
    others: readonly RecordVersion[] = [],
  ): Promise<void> {
    if (sessionsEnded.length === 0) return
    const ended = sessionsEnded.map((one) => ({ record: sessionRecord(one.session_id), version: Number(one.version) }))
    await store.publish({ records: [...ended, ...others], removed: [] })
  }

  return {
    find(token, client) {
      const digest = digestOf(token)
      const entry = remembered.get(digest)
      if (entry && !isOver(entry)) {
        noteUse(entry, client)
        return entry.caller
      }
      return found(digest, token, client)
    },
    async open({ accountId, method, mfaVerified, passwordHash, replaces, given }, client) {
      const token = newToken()
      const digest = digestOf(token)
      const seconds = accountId === undefined ? MASTER_KEY_LIFE_SECONDS : LIFE_SECONDS
      const opened = await records.open({
        session_id: newId('session'),
        token_hash: newHash(token, accountId),
        account_id: accountId ?? null,
        method,
        mfa_verified: mfaVerified,
        ...origin(client),
        lifeSeconds: seconds,
        passwordHash,
        replaces,
        given,
      })
      if (!opened) return undefined
      const { replaced, accountVersion } = opened
      if (replaced) {
        const account = { record: accountRecord(accountId ?? ''), version: Number(accountVersion) }
        await publishEnded([replaced], accountVersion === undefined ? [] : [account])
      }
      return { token, seconds, caller: await read(digest, token) }
    },
    async end(sessionId, accountId) {
      const session = await records.end(sessionId, accountId)
      if (session) await publishEnded([session])
      return session !== undefined
    },
    async endAll(accountId, except) {
      const all = await records.endAll(accountId, except)
      await publishEnded(all)
      return all.length
    },
  }
}

function origin({ address, userAgent }: SessionClient): { ip: string | null; user_agent: string | null } {
  return { ip: storableText(address), user_agent: storableText(userAgent) }
}

function ended(): GatewayError {
  return refusal('session_ended', 'There is no such session, or it has ended. Sign in again.')
}
