import { describe, expect, expectTypeOf, it } from 'vitest'
import { INVITERS } from '../../../../src/identity/roles.ts'
import { sqlRecords } from '../../../../src/stores/sql/records/index.ts'
import {
  type KeyedContent,
  type KeyedRecord,
  keyedRecords,
  keyedTable,
} from '../../../../src/stores/sql/records/keyed-records.ts'
import type { MODELS } from '../../../../src/stores/sql/records/model-records.ts'
import type { Sql, Statement } from '../../../../src/stores/sql/sql.ts'

const asked: Statement[] = []
const answer = { rows: [], affected: 0 }
const sql: Sql = {
  query: async (statement) => {
    asked.push(statement)
    return answer
  },
  batch: async (statements) => statements.map(() => answer),
  ping: async () => {},
  close: async () => {},
}

describe('columns of records', () => {
  it('have the types of the schema', () => {
    expectTypeOf<KeyedContent<typeof MODELS>>().toEqualTypeOf<{
      readonly model_name: string
      readonly gateway_params: Record<string, unknown>
      readonly model_info: Record<string, unknown>
      readonly sealed: string
      readonly credential: string | null
    }>()
    expectTypeOf<KeyedRecord<typeof MODELS>['version']>().toEqualTypeOf<number>()
  })

  it('do not compile where the table has none of the name', async () => {
    const { teams, keys, routeGroups } = sqlRecords(sql, INVITERS)
    // @ts-expect-error: no such column
    await teams.create({ team_id: 'red', tem_name: 'Red' })
    // @ts-expect-error: a column of keys, not of teams
    await teams.change('red', 'everything', { allowed_ips: null })
    // @ts-expect-error: no such column
    await keys.page({ reach: 'everything', search: '', cursor: '', limit: 1, where: { team: 'red' } })
    // @ts-expect-error: no such column
    await routeGroups.create('pool', { enabled: true, members: [], weight: 1 })
    // @ts-expect-error: a record is written as a whole
    await routeGroups.replace('pool', 1, { enabled: true })
    const group = { table: 'gateway_route_group', id: 'name', columns: ['enabled'], searched: ['name'] } as const
    expect(keyedTable(group)).toBe(group)
    // @ts-expect-error: no such column
    keyedRecords(sql, { ...group, columns: ['enable'] })
    // @ts-expect-error: not a text
    keyedRecords(sql, { ...group, searched: ['members'] })
    // @ts-expect-error: a table of another kind of record
    keyedRecords(sql, { ...group, table: 'gateway_team' })
    expect(asked.map(({ sql: text }) => text.trim().split(' ')[0])).toContain('WITH')
  })
})
