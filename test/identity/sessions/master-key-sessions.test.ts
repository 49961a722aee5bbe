import { expect, it } from 'vitest'
import { sessions } from '../../../src/identity/sessions/sessions.ts'
import { secret } from '../../../src/lib/secret.ts'
import type { NewSession, SessionRecords, StoredSession } from '../../../src/stores/sql/people/session-records.ts'

const CLIENT = { address: '', userAgent: undefined, defer: () => {} }

const stored = new Map<string, StoredSession>()
const records = {
  byTokenHash: async (hashes) => hashes.map((hash) => stored.get(hash)).find((found) => found !== undefined),
  async open({ session_id, token_hash, method }: NewSession) {
    const [created_at, expires_at] = [0, 3_600_000].map((ms) => new Date(Date.now() + ms).toISOString()) as [
      string,
      string,
    ]
    const times = { created_at, last_used_at: created_at, expires_at }
    const own = { session_id, method, mfa_verified: false, version: '1', alive: true, account: null, memberships: [] }
    stored.set(token_hash, { ...own, ...times })
    return { replaced: undefined, accountVersion: undefined }
  },
} as Pick<SessionRecords, 'byTokenHash' | 'open'> as SessionRecords

/** A gateway that was started with these master keys. */
const startedWith = (now: string, previous?: string) =>
  sessions({
    hash: (text) => text,
    records,
    store: { publish: async () => true },
    masterKeys: { now: secret(now), previous: previous === undefined ? undefined : secret(previous) },
    requireMfa: false,
    graceMs: 0,
    attempts: { failed: () => undefined, refused: () => undefined },
    now: Date.now,
  })
const opening = { accountId: undefined, method: 'master_key', mfaVerified: false } as const

it('a session of the master key lasts as long as the key is accepted', async () => {
  const before = await startedWith('sk-former').open(opening, CLIENT)
  const during = await startedWith('sk-new', 'sk-former').open(opening, CLIENT)
  const since = await startedWith('sk-new').open(opening, CLIENT)
  const good = async (keys: readonly [string, string?]) =>
    Promise.all(
      [before, during, since].map(async (opened) => {
        try {
          return (await startedWith(...keys).find(opened?.token ?? '', CLIENT)).session.method
        } catch (error) {
          return (error as { code?: string }).code
        }
      }),
    )
  expect(await good(['sk-new', 'sk-former'])).toEqual(['master_key', 'master_key', 'master_key'])
  expect(await good(['sk-new'])).toEqual(['session_ended', 'session_ended', 'master_key'])
  expect(await good(['sk-third'])).toEqual(['session_ended', 'session_ended', 'session_ended'])
})
