import { describe, expect, it } from 'vitest'
import { callerOf } from '../../src/identity/caller-of.ts'
import { masterCaller } from '../../src/identity/master-caller.ts'
import { configSchema } from '../../src/routing/configuration.ts'
import type { CallerRecord } from '../../src/stores/sql/records/caller-records.ts'
import { contentDoor } from '../../src/telemetry/content/content-door.ts'

const LIMITS = {
  ...{ rpm_limit: null, tpm_limit: null, rph_limit: null, rpd_limit: null, tpd_limit: null, max_budget: null },
  ...{
    soft_budget: null,
    budget_duration: null,
    budget_started_at: '2026-11-01T00:00:00.000Z',
    target_mode: null,
    version: 1,
  },
}

function caller(key: object, team: object | null = null) {
  const record: CallerRecord = {
    key: {
      ...LIMITS,
      ...{ key_id: 'k', owner_account_id: null, max_parallel_requests: null, allowed_ips: null, expires_at: null },
      revoked: false,
      ...key,
    },
    user: null,
    team: team && { ...LIMITS, team_id: 't', ...team },
    organization: null,
    bindings: [],
  }
  const again = async () => masterCaller
  return callerOf(record, { targetDefault: 'allow', readAt: 0, confirmedAt: 0, again, confirmed: again })
}

const settings = (given: object) => configSchema().parse({ gateway_settings: given }).gateway_settings
const isOpen = (of: ReturnType<typeof caller>, noLog: boolean, given: object = {}, isWanted = true) =>
  contentDoor(settings(given), () => isWanted, 1_000_000).open(of, noLog) !== undefined

describe('the content of a call', () => {
  it.each([
    ['is logged for a key that says nothing', {}, null, true, false],
    ['is not for one that is turned off', { turn_off_message_logging: true }, null, false, false],
    ['nor for a team that is', { turn_off_message_logging: false }, { turn_off_message_logging: true }, false, false],
    ['is, whatever the request asks for, where the key does not allow that', { no_log_allowed: false }, {}, true, true],
  ])('%s', (_what, key, team, plain, asked) => {
    expect([isOpen(caller(key, team), false), isOpen(caller(key, team), true)]).toEqual([plain, asked])
  })

  it('is remembered for nobody where all logging is turned off, or while no sink takes it', () => {
    expect(isOpen(caller({}), false, { turn_off_message_logging: true })).toBe(false)
    expect(isOpen(caller({}), false, {}, false)).toBe(false)
  })
})
