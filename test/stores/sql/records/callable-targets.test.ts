import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { nodePostgresSql } from '../../../../src/stores/sql/adapters/node-postgres.node.ts'
import {
  type CallableBindingRecords,
  type CallableGrant,
  type ChangedBinding,
  callableBindingRecords,
} from '../../../../src/stores/sql/records/callable-binding-records.ts'
import {
  type CallableScopeRecords,
  callableScopeRecords,
} from '../../../../src/stores/sql/records/callable-scope-records.ts'
import {
  type CallableScope,
  type Reaches,
  SCOPE_TYPES,
  type ScopeChange,
} from '../../../../src/stores/sql/records/callable-scopes.ts'
import type { Reach } from '../../../../src/stores/sql/records/reach.ts'
import { applySchema } from '../../../../src/stores/sql/schema/apply-schema.ts'
import type { Sql } from '../../../../src/stores/sql/sql.ts'
import { preparedEmbeddedSql } from '../../../support/embedded-database.node.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'

const postgresUrl = inject('postgresUrl')
const text = await readFile(new URL('../../../../schema.sql', import.meta.url), 'utf8')

const everywhere = (reach: Reach): Reaches => ({ organization: reach, team: reach, user: reach, api_key: reach })
const EVERYTHING = everywhere('everything')
const grant = (callable_key: string, more: Partial<CallableGrant> = {}): CallableGrant => ({
  callable_kind: 'target',
  callable_key,
  enabled: true,
  ...more,
})

const ORGANIZATION: CallableScope = { scope_type: 'organization', scope_id: 'acme' }
const TEAM: CallableScope = { scope_type: 'team', scope_id: 'red' }
const USER: CallableScope = { scope_type: 'user', scope_id: 'ann' }
const KEY: CallableScope = { scope_type: 'api_key', scope_id: 'k-red' }
const LONE_TEAM: CallableScope = { scope_type: 'team', scope_id: 'lone' }

const TABLES = {
  organization: ['gateway_organization', 'organization_id'],
  team: ['gateway_team', 'team_id'],
  user: ['gateway_user', 'user_id'],
  api_key: ['gateway_key', 'key_id'],
} as const

describe.each<[string, () => Promise<Sql>, boolean]>([
  [
    'PostgreSQL',
    async () => nodePostgresSql({ connectionString: await preparedDatabase(postgresUrl) }),
    postgresUrl !== '',
  ],
  ['PGlite', () => preparedEmbeddedSql(), true],
])('callable targets on %s', (name, open, present) => {
  let sql: Sql
  let bindings: CallableBindingRecords
  let scopes: CallableScopeRecords
  const run = async (statement: string) => (await sql.query({ sql: statement, parameters: [] })).rows

  beforeAll(async () => {
    if (!present) return
    sql = await open()
    await applySchema(sql, text)
    bindings = callableBindingRecords(sql)
    scopes = callableScopeRecords(sql)
    await run("INSERT INTO gateway_organization (organization_id) VALUES ('acme'), ('other')")
    await run(`INSERT INTO gateway_team (team_id, organization_id) VALUES
      ('red', 'acme'), ('blue', 'acme'), ('lone', NULL), ('far', 'other')`)
    await run("INSERT INTO gateway_user (user_id) VALUES ('ann'), ('bob')")
    await run(`INSERT INTO gateway_membership (scope_type, scope_id, user_id, role) VALUES
      ('team', 'red', 'ann', 'team_developer'), ('organization', 'other', 'bob', 'org_member')`)
    await run(`INSERT INTO gateway_key (key_id, key_hash, team_id, organization_id, user_id) VALUES
      ('k-red', 'h1', 'red', 'acme', 'ann'), ('k-far', 'h2', 'far', 'other', NULL), ('k-own', 'h3', NULL, 'acme', NULL),
      ('k-lone', 'h4', 'lone', NULL, NULL), ('k-late', 'h5', 'red', NULL, NULL)`)
  })
  beforeEach(async () => {
    if (!present) return
    await run('DELETE FROM gateway_callable_binding')
    for (const [table] of Object.values(TABLES)) await run(`UPDATE ${table} SET target_mode = NULL`)
  })
  afterAll(() => sql?.close())

  async function versionOf({ scope_type, scope_id }: CallableScope): Promise<number> {
    const [table, id] = TABLES[scope_type]
    const [row] = await run(`SELECT version FROM ${table} WHERE ${id} = '${scope_id}'`)
    return Number(row?.version)
  }

  it.runIf(present).each([ORGANIZATION, TEAM, USER, KEY])(
    'every change of a binding of $scope_type gives its record, and no other, a new version',
    async (scope) => {
      const others = [ORGANIZATION, TEAM, USER, KEY, LONE_TEAM].filter((other) => other !== scope)
      const before = await Promise.all(others.map(versionOf))
      let last = await versionOf(scope)
      const rises = async (change: ScopeChange | undefined) => {
        const version = Number(change?.version)
        expect(version).toBe(await versionOf(scope))
        expect(change?.organization_id).toBe(scope === USER ? null : 'acme')
        expect(version).toBeGreaterThan(last)
        last = version
      }
      const made = await bindings.create('b1', scope, grant('big'), EVERYTHING)
      if (made === undefined || made === 'taken') throw new Error('not made')
      expect(made.binding).toMatchObject({ binding_id: 'b1', ...scope, ...grant('big') })
      await rises(made.scope)
      const changed = await bindings.change(made.binding, { enabled: false }, EVERYTHING)
      expect(changed).toMatchObject({ binding: { enabled: false, callable_key: 'big' } })
      await rises((changed as ChangedBinding).scope)
      await rises(await scopes.putMode(scope, 'inherit', EVERYTHING))
      const ids = [{ binding_id: 'b2', callable_kind: 'target' as const, callable_key: 'small' }]
      await rises(await scopes.replaceModels(scope, { mode: null, grants: ids }, EVERYTHING))
      const [left] = await bindings.page({ reaches: EVERYTHING, where: scope, cursor: '', limit: 10 })
      expect(left).toMatchObject({ binding_id: 'b2', ...grant('small') })
      if (!left) throw new Error('none left')
      await rises((await bindings.remove(left, EVERYTHING))?.scope)
      expect(await bindings.remove(left, EVERYTHING)).toBeUndefined()
      expect(await Promise.all(others.map(versionOf))).toEqual(before)
    },
  )

  it.runIf(present)('levels are those that a call goes through, with their modes and bindings', async () => {
    await bindings.create('b1', ORGANIZATION, grant('paid', { callable_kind: 'access_group' }), EVERYTHING)
    await bindings.create('b2', TEAM, grant('big'), EVERYTHING)
    await bindings.create('b3', TEAM, grant('a', { enabled: false }), EVERYTHING)
    await scopes.putMode(USER, 'restrict', EVERYTHING)
    const version = expect.stringMatching(/^\d+$/)
    const organization = {
      ...ORGANIZATION,
      mode: null,
      version,
      bindings: [grant('paid', { callable_kind: 'access_group' })],
    }
    const team = { ...TEAM, mode: null, version, bindings: [grant('a', { enabled: false }), grant('big')] }
    const user = { ...USER, mode: 'restrict', version, bindings: [] }
    const key = (scope_id: string) => ({ ...KEY, scope_id, mode: null, version, bindings: [] })
    const levels = (scope_type: CallableScope['scope_type'], scope_id: string) =>
      scopes.levels({ scope_type, scope_id }, EVERYTHING)
    expect(await levels('organization', 'acme')).toEqual([organization])
    expect(await levels('team', 'red')).toEqual([organization, team])
    expect(await levels('user', 'ann')).toEqual([user])
    expect(await levels('api_key', 'k-red')).toEqual([organization, team, user, key('k-red')])
    expect(await levels('api_key', 'k-late')).toEqual([organization, team, key('k-late')])
    expect(await levels('api_key', 'k-own')).toEqual([organization, key('k-own')])
    expect(await levels('api_key', 'k-lone')).toEqual([
      { ...LONE_TEAM, mode: null, version, bindings: [] },
      key('k-lone'),
    ])
    for (const type of SCOPE_TYPES) expect(await levels(type, 'nobody')).toBeUndefined()
  })

  it.runIf(present)('what is outside the reach is absent, for every verb', async () => {
    const reaches: [Reach, string][] = [
      [{ organizations: ['acme'], teams: [] }, 'acme red blue ann k-red k-own'],
      [{ organizations: [], teams: ['red'] }, 'red ann k-red k-late'],
      [{ organizations: ['other'], teams: ['lone'] }, 'other lone far bob k-far k-lone'],
      [{ organizations: [], teams: [] }, ''],
      ['everything', 'acme other red blue lone far ann bob k-red k-far k-own k-lone k-late'],
    ]
    const all: CallableScope[] = []
    for (const type of SCOPE_TYPES) {
      const [table, id] = TABLES[type]
      for (const row of await run(`SELECT ${id} AS id FROM ${table} ORDER BY 1`)) {
        all.push({ scope_type: type, scope_id: String(row.id) })
      }
    }
    for (const scope of all) {
      await bindings.create(`of-${scope.scope_id}`, scope, grant('big'), EVERYTHING)
      await scopes.putMode(scope, 'restrict', EVERYTHING)
    }
    const ids = (found: readonly { scope_id: string }[]) => found.map(({ scope_id }) => scope_id).sort()
    for (const [reach, expected] of reaches) {
      const within = everywhere(reach)
      const wanted = expected.split(' ').filter(Boolean).sort()
      const seen = { reaches: within, where: {}, limit: 100 }
      expect(ids(await bindings.page({ ...seen, cursor: '' }))).toEqual(wanted)
      expect(ids(await scopes.policies({ ...seen, cursor: undefined }))).toEqual(wanted)
      for (const scope of all) {
        const inside = wanted.includes(scope.scope_id)
        const before = await versionOf(scope)
        const found = await bindings.find(`of-${scope.scope_id}`, within)
        expect(found !== undefined).toBe(inside)
        expect((await scopes.levels(scope, within)) !== undefined).toBe(inside)
        if (inside) continue
        const [binding] = await bindings.page({ reaches: EVERYTHING, where: scope, cursor: '', limit: 1 })
        if (!binding) throw new Error('no binding')
        expect(await bindings.create('new', scope, grant('small'), within)).toBeUndefined()
        expect(await bindings.change(binding, { enabled: false }, within)).toBeUndefined()
        expect(await bindings.remove(binding, within)).toBeUndefined()
        expect(await scopes.putMode(scope, 'inherit', within)).toBeUndefined()
        const other = { binding_id: 'other', callable_kind: 'target' as const, callable_key: 'other' }
        expect(await scopes.replaceModels(scope, { mode: null, grants: [other] }, within)).toBeUndefined()
        expect(await bindings.page({ reaches: EVERYTHING, where: scope, cursor: '', limit: 9 })).toEqual([binding])
        expect(await versionOf(scope)).toBe(before)
      }
    }
  })

  it.runIf(present)('a change never takes what another binding has, nor a scope that is not there', async () => {
    expect(await bindings.create('b1', TEAM, grant('big'), EVERYTHING)).toMatchObject({ binding: { binding_id: 'b1' } })
    expect(await bindings.create('b2', TEAM, grant('big', { enabled: false }), EVERYTHING)).toBe('taken')
    const label = await bindings.create('b3', TEAM, grant('big', { callable_kind: 'access_group' }), EVERYTHING)
    if (label === undefined || label === 'taken') throw new Error('not made')
    expect(await bindings.change(label.binding, { callable_kind: 'target' }, EVERYTHING)).toBe('taken')
    expect(await bindings.find('b3', EVERYTHING)).toEqual(label.binding)
    const nowhere = { scope_type: 'team', scope_id: 'nobody' } as const
    expect(await bindings.create('b4', nowhere, grant('big'), EVERYTHING)).toBeUndefined()
    expect(await scopes.putMode(nowhere, 'restrict', EVERYTHING)).toBeUndefined()
    expect(await scopes.replaceModels(nowhere, { mode: null, grants: [] }, EVERYTHING)).toBeUndefined()
  })

  it.runIf(present)('replacing models leaves servers of tools bound, and says nothing of them', async () => {
    const server = grant('big', { callable_kind: 'mcp_server' })
    await bindings.create('web', TEAM, server, EVERYTHING)
    await bindings.create('old', TEAM, grant('big'), EVERYTHING)
    const nothing = { mode: null, grants: [] }
    const replaced = await scopes.replaceModels(TEAM, nothing, EVERYTHING)
    expect(replaced).toMatchObject({ bindings_before: [grant('big')] })
    const [left, ...others] = await bindings.page({ reaches: EVERYTHING, where: TEAM, cursor: '', limit: 9 })
    expect([left, others]).toMatchObject([{ binding_id: 'web', ...server }, []])
  })

  it.runIf(present)('replacing keeps the ids of what stays, enables it, and is one of many whole', async () => {
    await bindings.create('old', TEAM, grant('big', { enabled: false }), EVERYTHING)
    await bindings.create('gone', TEAM, grant('small'), EVERYTHING)
    const named = (turn: number, ...keys: string[]) =>
      keys.map((callable_key) => ({
        binding_id: `${turn}-${callable_key}`,
        callable_kind: 'target' as const,
        callable_key,
      }))
    const first = { mode: 'restrict' as const, grants: named(0, 'big', 'fast') }
    expect(await scopes.replaceModels(TEAM, first, EVERYTHING)).toMatchObject({
      mode_before: null,
      bindings_before: [grant('big', { enabled: false }), grant('small')],
    })
    expect(await scopes.putMode(TEAM, null, EVERYTHING)).toMatchObject({ mode_before: 'restrict' })
    const all = { reaches: EVERYTHING, where: TEAM, cursor: '', limit: 100 }
    expect((await bindings.page(all)).map(({ binding_id, enabled }) => [binding_id, enabled])).toEqual([
      ['0-fast', true],
      ['old', true],
    ])
    const twenty = (version?: number) =>
      Promise.all(
        Array.from({ length: 20 }, (_, turn) => {
          const grants = named(turn, `a${turn}`, `b${turn}`, 'shared')
          return scopes.replaceModels(TEAM, { mode: null, grants, version }, EVERYTHING)
        }),
      )
    const changes = await twenty()
    const versions = changes.map((change) => Number(change?.version))
    expect(new Set(versions).size).toBe(20)
    const keys = (await bindings.page(all)).map(({ callable_key }) => callable_key).sort()
    expect(keys).toHaveLength(3)
    const winner = versions.indexOf(await versionOf(TEAM))
    expect(keys).toEqual([`a${winner}`, `b${winner}`, 'shared'])
    // Of those who have read the same version one replaces what it read.
    const read = await versionOf(TEAM)
    const won = (await twenty(read)).map((change) => change !== undefined)
    expect(won.filter(Boolean)).toHaveLength(1)
    const left = (await bindings.page(all)).map(({ callable_key }) => callable_key).sort()
    expect(left).toEqual([`a${won.indexOf(true)}`, `b${won.indexOf(true)}`, 'shared'])
    expect(await scopes.replaceModels(TEAM, { mode: null, grants: [], version: read }, EVERYTHING)).toBeUndefined()
    expect(await bindings.page(all)).toHaveLength(3)
  })

  it.runIf(present && name === 'PostgreSQL')('of twenty who bind the same at once, one does', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, turn) => bindings.create(`b${turn}`, KEY, grant('big'), EVERYTHING)),
    )
    expect(outcomes.filter((outcome) => outcome === 'taken')).toHaveLength(19)
  })
})
