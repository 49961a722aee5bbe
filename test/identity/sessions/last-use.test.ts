import { expect, it } from 'vitest'
import { sessions } from '../../../src/identity/sessions/sessions.ts'
import { newToken } from '../../../src/lib/token.ts'
import type { SessionRecords, StoredSession } from '../../../src/stores/sql/people/session-records.ts'
import { testClock } from '../../support/clock.ts'

const HOUR_MS = 3_600_000

/** A session of this moment, and how often its use was stored. */
function session() {
  const clock = testClock()
  const stored: StoredSession = {
    session_id: 's',
    method: 'master_key',
    mfa_verified: false,
    created_at: new Date(clock.now()).toISOString(),
    last_used_at: new Date(clock.now()).toISOString(),
    expires_at: new Date(clock.now() + 168 * HOUR_MS).toISOString(),
    version: '1',
    alive: true,
    account: null,
    memberships: [],
  }
  let uses = 0
  const records = {
    byTokenHash: async () => stored,
    async touch() {
      uses += 1
    },
  } as unknown as SessionRecords
  const { find } = sessions({
    hash: (token) => token,
    records,
    store: { publish: async () => true },
    masterKeys: { now: undefined, previous: undefined },
    requireMfa: false,
    graceMs: 0,
    attempts: { failed: () => undefined, refused: () => undefined },
    now: clock.now,
  })
  const token = newToken()
  return {
    clock,
    use: async () => void (await find(token, { address: '', userAgent: undefined, defer: () => {} })),
    uses: () => uses,
  }
}

it('the use of a session is stored although the clock was set back since, or it would end as an idle one', async () => {
  const { clock, use, uses } = session()
  await use()
  await use()
  expect(uses()).toBe(0)
  clock.advance(-24 * HOUR_MS)
  await use()
  expect(uses()).toBe(1)
  clock.advance(299_999)
  await use()
  expect(uses()).toBe(1)
  clock.advance(1)
  await use()
  expect(uses()).toBe(2)
})

it('a single use of a session that its process does not remember is stored too', async () => {
  const { clock, use, uses } = session()
  await use()
  clock.advance(11 * HOUR_MS)
  await use()
  expect(uses()).toBe(1)
})
