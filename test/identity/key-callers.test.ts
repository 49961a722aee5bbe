import { describe, expect, it } from 'vitest'
import { keyCallers } from '../../src/identity/key-callers.ts'
import type { CallerRecord } from '../../src/stores/sql/records/caller-records.ts'
import { testClock } from '../support/clock.ts'

const HERE = '203.0.113.9'

/** Callers over a database with one key. */
function world() {
  const clock = testClock()
  const limits = { rpm_limit: null, tpm_limit: null, rph_limit: null, rpd_limit: null, tpd_limit: null }
  const budget = {
    max_budget: null,
    soft_budget: null,
    budget_duration: null,
    budget_started_at: '2026-01-01T00:00:00Z',
  }
  const own = { key_id: 'key-1', owner_account_id: null, max_parallel_requests: null, revoked: false, version: 1 }
  const key: CallerRecord['key'] = {
    ...limits,
    ...budget,
    ...own,
    target_mode: null,
    allowed_ips: null,
    expires_at: null,
  }
  const kept: { -readonly [Name in keyof CallerRecord]: CallerRecord[Name] } = {
    key,
    user: null,
    team: null,
    organization: null,
    bindings: [],
  }
  let reads = 0
  const records = {
    byKeyId: async () => {
      reads += 1
      return { ...kept }
    },
  }
  return {
    callers: keyCallers({ records, targetDefault: 'allow', graceMs: 0, now: clock.now }),
    kept,
    reads: () => reads,
    change: (fields: Partial<CallerRecord['key']>) => Object.assign(kept, { key: { ...kept.key, ...fields } }),
    end: new Date(clock.now() - 1000).toISOString(),
  }
}

describe('callers by the ids of their keys', () => {
  it('are remembered, but no refusal is', async () => {
    const { callers, change, reads, end } = world()
    change({ expires_at: end, allowed_ips: ['198.51.100.0/24'] })
    await expect(callers.find('key-1', HERE)).rejects.toMatchObject({ code: 'expired_api_key' })
    change({ expires_at: null })
    await expect(callers.find('key-1', HERE)).rejects.toMatchObject({ code: 'address_not_allowed' })
    change({ allowed_ips: null })
    await callers.find('key-1', HERE)
    await callers.find('key-1', HERE)
    expect(reads()).toBe(3)
  })

  it('are read anew for what no admission decides', async () => {
    const { callers, kept } = world()
    const target = { name: 'm', models: ['m'], accessGroups: [] }
    kept.key = { ...kept.key, target_mode: 'restrict' }
    expect((await callers.orderer('key-1')).mayCall(target)).toBe(false)
    kept.bindings = [{ scope_type: 'api_key', callable_kind: 'target', callable_key: 'm', enabled: true }]
    expect((await callers.orderer('key-1')).mayCall(target)).toBe(false)
    expect((await callers.currentOrderer('key-1')).mayCall(target)).toBe(true)
  })
})
