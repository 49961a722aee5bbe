import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { auditPage, insertAuditEvents } from '../../../../src/stores/sql/records/audit-records.ts'
import { type KeyRecords, keyRecords } from '../../../../src/stores/sql/records/key-records.ts'
import { membershipRecords } from '../../../../src/stores/sql/records/membership-records.ts'
import {
  type OrganizationRecords,
  organizationRecords,
} from '../../../../src/stores/sql/records/organization-records.ts'
import type { Reach } from '../../../../src/stores/sql/records/reach.ts'
import { type TeamRecords, teamRecords } from '../../../../src/stores/sql/records/team-records.ts'
import { type UserRecords, userRecords } from '../../../../src/stores/sql/records/user-records.ts'
import { applySchema } from '../../../../src/stores/sql/schema/apply-schema.ts'
import type { Sql } from '../../../../src/stores/sql/sql.ts'
import { preparedSql } from '../../../support/prepared-database.ts'

const ALL: Reach = 'everything'
const OF_ONE: Reach = { organizations: ['one'], teams: [] }
const OF_TEAM: Reach = { organizations: [], teams: ['one-a'] }
const NOWHERE: Reach = { organizations: [], teams: [] }

describe('who does not reach everything', () => {
  let sql: Sql
  let organizations: OrganizationRecords
  let teams: TeamRecords
  let users: UserRecords
  let keys: KeyRecords

  beforeAll(async () => {
    sql = await preparedSql()
    await applySchema(sql, readFileSync(new URL('../../../../schema.sql', import.meta.url), 'utf8'))
    organizations = organizationRecords(sql)
    teams = teamRecords(sql)
    users = userRecords(sql)
    keys = keyRecords(sql)
    const members = membershipRecords(sql)
    for (const organization_id of ['one', 'two']) {
      await organizations.create({ organization_id })
      for (const part of ['a', 'b']) {
        const team_id = `${organization_id}-${part}`
        await teams.create({ team_id, organization_id })
        await users.create({ user_id: team_id })
        await members.put('team', team_id, { user_id: team_id, role: 'team_viewer' }, [])
        await keys.createIn(ALL, { key_id: `key-${team_id}`, key_hash: team_id, team_id })
      }
      await users.create({ user_id: `${organization_id}-owner` })
      await members.put('organization', organization_id, { user_id: `${organization_id}-owner`, role: 'org_owner' }, [])
      await keys.createIn(ALL, { key_id: `key-${organization_id}`, key_hash: organization_id, organization_id })
    }
    await keys.createIn(ALL, { key_id: 'key-alone', key_hash: 'alone' })
    await users.create({ user_id: 'alone' })
  })
  afterAll(() => sql.close())

  async function seen(reach: Reach): Promise<string[]> {
    const page = { reach, search: '', cursor: '', limit: 100, where: {} }
    const found = await Promise.all([organizations.page(page), teams.page(page), users.page(page), keys.page(page)])
    const ids = ['organization_id', 'team_id', 'user_id', 'key_id']
    return found.flatMap((rows, kind) =>
      rows.map((row) => `${ids[kind]?.slice(0, -3)} ${(row as Record<string, unknown>)[ids[kind] as string]}`),
    )
  }

  it('sees what is theirs and nothing else', async () => {
    expect(await seen(OF_ONE)).toEqual([
      'organization one',
      ...['team one-a', 'team one-b'],
      ...['user one-a', 'user one-b', 'user one-owner'],
      ...['key key-one', 'key key-one-a', 'key key-one-b'],
    ])
    expect(await seen(OF_TEAM)).toEqual(['team one-a', 'user one-a', 'key key-one-a'])
    expect(await seen(NOWHERE)).toEqual([])
    expect(await seen(ALL)).toHaveLength(2 + 4 + 7 + 7)
  })

  it.each([
    ['of the other organization', OF_ONE, 'two', 'two-a'],
    ['of another team', OF_TEAM, 'one', 'one-b'],
    ['of anybody', NOWHERE, 'one', 'one-a'],
  ])('finds, changes and removes nothing %s', async (_, reach, organization, team) => {
    const before = await seen(ALL)
    const [key, limit] = [`key-${team}`, { rpm_limit: 9 }]
    const outcomes = await Promise.all([
      ...[organizations.find(organization, reach), organizations.change(organization, reach, limit)],
      ...[organizations.remove(organization, reach), teams.find(team, reach), teams.change(team, reach, limit)],
      ...[teams.remove(team, reach), users.find(team, reach), users.change(team, reach, limit)],
      ...[users.remove(team, reach), keys.find(key, reach), keys.change(key, reach, limit), keys.remove(key, reach)],
      ...[keys.revoke(key, reach), keys.regenerate(key, reach, 'stolen')],
      keys.createIn(reach, { key_id: 'intruder', key_hash: 'intruder', team_id: team }),
    ])
    expect(outcomes).toEqual(outcomes.map(() => undefined))
    expect(await seen(ALL)).toEqual(before)
    expect(await keys.find(key, ALL)).toMatchObject({ key_hash: team, revoked_at: null, rpm_limit: null })
  })

  it('changes what is theirs', async () => {
    expect((await teams.change('one-b', OF_ONE, { rpm_limit: 9 }))?.record.rpm_limit).toBe('9')
    expect((await users.change('one-a', OF_TEAM, { rpm_limit: 9 }))?.record.rpm_limit).toBe('9')
    const made = await keys.createIn(OF_TEAM, { key_id: 'mine', key_hash: 'mine', team_id: 'one-a' })
    expect(made).toMatchObject({ team_id: 'one-a', organization_id: 'one' })
    expect((await keys.revoke('mine', OF_ONE))?.record.revoked_at).toMatch(/Z$/)
  })

  it('changes no user who is a member of a team outside of every organization, too', async () => {
    const beyond: Reach = { ...OF_ONE, wholeUsers: true }
    const members = membershipRecords(sql)
    await users.create({ user_id: 'shared' })
    await members.put('team', 'one-a', { user_id: 'shared', role: 'team_viewer' }, [])
    expect((await users.change('shared', beyond, { rpm_limit: 9 }))?.record.rpm_limit).toBe('9')
    await teams.create({ team_id: 'free' })
    await members.put('team', 'free', { user_id: 'shared', role: 'team_viewer' }, [])
    expect(await users.change('shared', beyond, { rpm_limit: 1 })).toBeUndefined()
    expect(await users.find('shared', OF_ONE)).toMatchObject({ rpm_limit: '9' })
    await users.remove('shared', ALL)
    await teams.remove('free', ALL)
  })

  it('every change is a newer version, a removal and a new life too', async () => {
    const versions: number[] = []
    const note = (record: { readonly version: string } | undefined) => versions.push(Number(record?.version))
    note(await teams.create({ team_id: 'again' }))
    note((await teams.change('again', ALL, { rpm_limit: 1 }))?.record)
    note((await teams.change('again', ALL, {}))?.record)
    note(await teams.remove('again', ALL))
    note(await teams.create({ team_id: 'again' }))
    expect(versions).toEqual([...new Set(versions)].sort((left, right) => left - right))
    expect(versions.every((version) => version > 0)).toBe(true)
  })

  it('removing a record removes what its own budget had spent, and no other one', async () => {
    const subjects = [
      'team:x',
      'team:x@30d',
      'team:x|m',
      'team:x|m@30d',
      'team:x%40y',
      'team:xy',
      'user:x',
      'team:x%7Cm',
    ]
    await teams.create({ team_id: 'x' })
    for (const subject of subjects) {
      await sql.query({
        sql: 'INSERT INTO gateway_budget (subject, period, spent_nano) VALUES ($1, $2, 1)',
        parameters: [subject, 'p'],
      })
    }
    await teams.remove('x', ALL)
    const { rows } = await sql.query<{ subject: string }>({
      sql: "SELECT subject FROM gateway_budget WHERE period = 'p' ORDER BY subject",
      parameters: [],
    })
    expect(rows.map(({ subject }) => subject)).toEqual(['team:x%40y', 'team:x%7Cm', 'team:xy', 'user:x'])
  })

  it('reads the audit of their organizations', async () => {
    const event = (event_id: string, organization_id: string | null) => ({
      event_id,
      occurred_at: '2026-01-02T03:04:05.678Z',
      organization_id,
      actor_type: 'master_key',
      actor_id: null,
      action: 'team.update',
      resource_type: 'team',
      resource_id: 'x',
      request_id: 'r',
      ip: null,
      user_agent: null,
      status: 200,
      changes: { team_name: { old: 'a "quoted" {name}', new: '\u0000 \\ é' } },
      metadata: {},
    })
    const events = [event('e1', 'one'), event('e2', 'two'), event('e3', null)]
    await insertAuditEvents(sql, events)
    // A queue may deliver twice.
    await insertAuditEvents(sql, events)
    const page = (reach: Reach) =>
      auditPage(sql, { reach, filters: {}, from: undefined, to: undefined, after: undefined, limit: 10 })
    // Nobody here has a name.
    const told = events.map((one) => ({ ...one, actor_name: null, resource_name: null }))
    expect(await page(ALL)).toEqual(told.toReversed())
    expect(await page(OF_ONE)).toEqual([told[0]])
    expect(await page(OF_TEAM)).toEqual([])
  })
})
