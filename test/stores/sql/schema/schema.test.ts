import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { applySchema } from '../../../../src/stores/sql/schema/apply-schema.ts'
import { type CallFact, FACT_NAMES, factOf } from '../../../../src/stores/sql/spend/call-facts.ts'
import { LATENCY_SUMS } from '../../../../src/stores/sql/spend/latency-sums.ts'
import { SPEND_DIMENSIONS, SPEND_FRACTIONS, SPEND_SUMS } from '../../../../src/stores/sql/spend/spend-sums.ts'
import { emptyEmbeddedSql } from '../../../support/embedded-database.node.ts'

const read = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8')

/** What each name that column-types.ts gives to a type is called in the database. */
const FAMILIES: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'boolean',
  Int4: 'integer',
  Int8: 'bigint',
  Float8: 'double precision',
  Numeric: 'numeric',
  Timestamp: 'timestamp with time zone',
  'string[]': 'ARRAY',
}

/** `bigint, or null, filled in`. What is not understood stays as it is written, and equals nothing. */
function described(written: string): string {
  const type = written.replace(/ \| null$/, '')
  const inner = /^(?:Defaulted|Given)<(.*)>$/.exec(type)?.[1]
  const bare = inner ?? type
  const values = /^'\w+'(?: \| '\w+')*$/.test(bare)
  const family = values ? 'text' : /^Json<.*>$/.test(bare) ? 'json' : (FAMILIES[bare] ?? bare)
  return `${family}${type === written ? '' : ', or null'}${inner === undefined ? '' : ', filled in'}`
}

/** How spend-schema.ts types what it derives. */
const TYPES: Readonly<Record<CallFact['type'], string>> = {
  text: 'string',
  timestamptz: 'Timestamp',
  'text[]': 'string[]',
  boolean: 'boolean',
  integer: 'Int4',
  bigint: 'Int8',
  'double precision': 'Float8',
}
const DERIVED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  SpendFactColumns: Object.fromEntries(
    FACT_NAMES.map((name) => {
      const { type, nullable, later } = factOf(name)
      return [name, `${later ? `Defaulted<${TYPES[type]}>` : TYPES[type]}${nullable ? ' | null' : ''}`]
    }),
  ),
  SpendDimensionColumns: Object.fromEntries(SPEND_DIMENSIONS.map((name) => [name, 'string'])),
  SpendSumColumns: Object.fromEntries(
    SPEND_SUMS.map((name) => [
      name,
      SPEND_FRACTIONS.has(name) ? 'Float8' : LATENCY_SUMS.has(name) ? 'Defaulted<Int4>' : 'Int8',
    ]),
  ),
}

/** Each table of the `Schema` with its columns, as it is typed. */
function declared(): Record<string, Record<string, string>> {
  const text = ['schema', 'batch-schema', 'people-schema', 'prompt-schema', 'routing-schema', 'spend-schema']
    .map((name) => read(`src/stores/sql/schema/${name}.ts`))
    .join('\n')
    // A long type stands on lines of its own.
    .replace(/<\n\s+(.+)\n\s+>$/gm, '<$1>')
  const parts = new Map(
    [...text.matchAll(/^(?:export )?interface (\w+)(?: extends ([\w, ]+))? \{\n(.*?)\n\}/gms)].map(
      ([, name, bases = '', body = '']) => [
        name,
        {
          bases: bases.split(', ').filter((base) => base !== ''),
          fields: Object.fromEntries([...body.matchAll(/^ {2}(\w+): (.+)$/gm)].map(([, key, type]) => [key, type])),
        },
      ],
    ),
  )
  const fieldsOf = (name: string): Record<string, string> => {
    const { bases, fields } = parts.get(name) ?? { bases: [], fields: {} }
    return Object.assign({}, DERIVED[name], ...bases.map(fieldsOf), fields)
  }
  const each = <From, To>(record: Record<string, From>, to: (value: From) => To) =>
    Object.fromEntries(Object.entries(record).map(([key, value]) => [key, to(value)]))
  return each(fieldsOf('Schema'), (table) => each(fieldsOf(table), described))
}

describe('the types of the tables', () => {
  it('say of every table and column what a fresh database says', async () => {
    const sql = await emptyEmbeddedSql()
    await applySchema(sql, read('schema.sql'))
    const { rows } = await sql.query<Record<'table_name' | 'column_name' | 'described', string>>({
      sql: `SELECT table_name, column_name, data_type
              || CASE is_nullable WHEN 'YES' THEN ', or null' ELSE '' END
              || CASE WHEN column_default IS NOT NULL OR is_identity = 'YES' THEN ', filled in' ELSE '' END AS described
            FROM information_schema.columns WHERE table_schema = 'public'`,
      parameters: [],
    })
    await sql.close()
    const there: Record<string, Record<string, string>> = {}
    for (const row of rows) {
      there[row.table_name] ??= {}
      Object.assign(there[row.table_name] as object, { [row.column_name]: row.described })
    }
    expect(declared()).toEqual(there)
  }, 60_000)
})
