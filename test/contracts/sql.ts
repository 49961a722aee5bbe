import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Sql, SqlError, type Statement } from '../../src/stores/sql/sql.ts'

/** What every adapter of the relational store promises. The expected values are literals, so that adapters which pass
 *  agree with each other to the byte. */
export function sqlContract(open: () => Promise<Sql>): void {
  let sql: Sql
  const table = `contract_${crypto.randomUUID().replaceAll('-', '')}`

  beforeAll(async () => {
    sql = await open()
    await sql.query(statement(`CREATE TABLE ${table} (id int PRIMARY KEY, note text CHECK (note <> 'forbidden'))`))
  })
  afterAll(async () => {
    await sql.query(statement(`DROP TABLE ${table}`))
    await sql.close()
    // Twice is once.
    await sql.close()
  })

  const one = async (text: string, ...parameters: unknown[]) => {
    const { rows } = await sql.query<{ value: unknown }>(statement(`SELECT ${text} AS value`, ...parameters))
    return rows[0]?.value
  }
  const failure = async (promise: Promise<unknown>): Promise<SqlError> => {
    const error = await promise.then(
      () => undefined,
      (thrown) => thrown,
    )
    expect(error).toBeInstanceOf(SqlError)
    return error
  }

  describe('values come back', () => {
    it.each<[string, unknown]>([
      [`'é 😀 ""\\'::text`, 'é 😀 ""\\'],
      [`''::text`, ''],
      ['NULL::text', null],
      ['true', true],
      ['false', false],
      ['32767::int2', 32767],
      ['(-2147483648)::int4', -2147483648],
      ['9223372036854775807::int8', '9223372036854775807'],
      ['count(*)', '1'],
      ['0.1000000000000000000001::numeric', '0.1000000000000000000001'],
      [`'NaN'::numeric`, 'NaN'],
      ['0.1::float8', 0.1],
      ['1.5::float4', 1.5],
      [`'-Infinity'::float8`, -Infinity],
      [`'{"b": [1, null, "x"], "a": {}}'::json`, { b: [1, null, 'x'], a: {} }],
      [`'[1.5, "é"]'::jsonb`, [1.5, 'é']],
      [`'null'::jsonb`, null],
      [`timestamptz '2026-01-02 03:04:05+00'`, '2026-01-02T03:04:05.000Z'],
      [`timestamptz '2026-01-02 03:04:05.5+05:30'`, '2026-01-01T21:34:05.500Z'],
      [`timestamptz '2026-01-02 03:04:05.678901-08'`, '2026-01-02T11:04:05.678901Z'],
      [`timestamptz 'infinity'`, 'infinity'],
      [`date '2026-01-02'`, '2026-01-02'],
      [`'3f2b1c9e-0000-4000-8000-0123456789ab'::uuid`, '3f2b1c9e-0000-4000-8000-0123456789ab'],
      [`'\\x00ff10'::bytea`, Uint8Array.of(0, 255, 16)],
      [`''::bytea`, new Uint8Array()],
      [`ARRAY['a,b', 'c"d', 'e\\f', '{}', 'NULL', '', NULL]`, ['a,b', 'c"d', 'e\\f', '{}', 'NULL', '', null]],
      ['ARRAY[]::text[]', []],
      [
        'ARRAY[[1, 2], [3, NULL]]',
        [
          [1, 2],
          [3, null],
        ],
      ],
      [`'[0:1]={7,8}'::int4[]`, [7, 8]],
      ['ARRAY[1::int8, 2]', ['1', '2']],
      ['ARRAY[1.50::numeric]', ['1.50']],
      ['ARRAY[true, false]', [true, false]],
      [`ARRAY['{"a": "b"}'::jsonb]`, [{ a: 'b' }]],
      [`ARRAY['\\x01'::bytea]`, [Uint8Array.of(1)]],
      [`ARRAY[timestamptz '2026-01-02 03:04:05+01']`, ['2026-01-02T02:04:05.000Z']],
      [`'1 day 02:00'::interval`, '1 day 02:00:00'],
    ])('%s', async (text, expected) => {
      expect(await one(text)).toStrictEqual(expected)
    })

    it('keeps the order and the names of columns, and takes the last of two with one name', async () => {
      const { rows } = await sql.query(statement('SELECT 1 AS b, 2 AS a, 3 AS b, 4 AS "__proto__"'))
      expect(JSON.stringify(rows)).toBe('[{"b":3,"a":2,"__proto__":4}]')
    })
  })

  describe('parameters arrive', () => {
    it.each<[string, unknown, unknown]>([
      ['text', `'; DROP TABLE x; -- "é😀\\`, `'; DROP TABLE x; -- "é😀\\`],
      ['text', null, null],
      ['int4', 7, 7],
      ['int8', 9007199254740993n, '9007199254740993'],
      ['numeric', '12345678901234567890.123', '12345678901234567890.123'],
      ['float8', 1e-7, 1e-7],
      ['bool', true, true],
      ['jsonb', { a: [1, 'x'], 'é"\\': null }, { a: [1, 'x'], 'é"\\': null }],
      ['jsonb', JSON.stringify([1, 'x']), [1, 'x']],
      ['json', { a: 'nul \0 and lone \ud800' }, { a: 'nul \0 and lone \ud800' }],
      ['timestamptz', new Date('2026-01-02T03:04:05.678Z'), '2026-01-02T03:04:05.678Z'],
      ['bytea', Uint8Array.of(0, 1, 255), Uint8Array.of(0, 1, 255)],
      ['text[]', ['a', 'b"c', '\\', '', 'NULL', null], ['a', 'b"c', '\\', '', 'NULL', null]],
      [
        'text[]',
        ['\n', '\u0001', 'null', null, ' ', '{"a": "b\\n"}'],
        ['\n', '\u0001', 'null', null, ' ', '{"a": "b\\n"}'],
      ],
      ['text[]', ['plain', null, '{"a": "b"}', 'é😀'], ['plain', null, '{"a": "b"}', 'é😀']],
      ['float8[]', [0.1, null, 12.345, 1e21, -0], [0.1, null, 12.345, 1e21, 0]],
      [
        'float8[]',
        [Number.NaN, Number.POSITIVE_INFINITY, null, 5e-7],
        [Number.NaN, Number.POSITIVE_INFINITY, null, 5e-7],
      ],
      ['bool[]', [true, null, false], [true, null, false]],
      ['text[]', [], []],
      ['int8[]', [1, 2n], ['1', '2']],
      ['jsonb[]', [{ a: '"' }], [{ a: '"' }]],
      ['bytea[]', [Uint8Array.of(0, 255)], [Uint8Array.of(0, 255)]],
    ])('%s (case %#)', async (type, value, expected) => {
      expect(await one(`$1::${type}`, value)).toStrictEqual(expected)
    })

    it('carries a long text', async () => {
      const text = 'é'.repeat(500_000)
      expect(await one('$1::text', text)).toBe(text)
    })
  })

  describe('a failure is an SqlError with its SQLSTATE', () => {
    it.each<[string, string, unknown[]]>([
      ['42601', 'SELEC 1', []],
      ['42601', 'SELECT 1; SELECT 2', []],
      ['42P01', 'SELECT * FROM absent', []],
      ['42703', `SELECT absent FROM ${table}`, []],
      ['22P02', 'SELECT $1::int', ['secret-value']],
      ['22003', 'SELECT $1::int', ['99999999999']],
      ['22012', 'SELECT 1 / 0', []],
      ['22021', 'SELECT $1::text', ['nul \0']],
      ['22021', 'SELECT $1::text', ['lone \ud800']],
      ['22021', 'SELECT $1::text[]', [['\udc00']]],
      ['22P05', 'SELECT $1::jsonb', [{ a: '\0' }]],
      ['22P02', 'SELECT $1::jsonb', [{ a: '\ud800' }]],
      ['22023', 'SELECT $1::text', [undefined]],
      ['22007', 'SELECT $1::timestamptz', [new Date(Number.NaN)]],
      ['54000', 'SELECT 1', Array.from({ length: 65_536 }, () => 1)],
      ['23502', `INSERT INTO ${table} (id) VALUES (NULL)`, []],
      ['23514', `INSERT INTO ${table} VALUES (0, 'forbidden')`, []],
    ])('%s: %s', async (code, text, parameters) => {
      const error = await failure(sql.query({ sql: text, parameters }))
      expect(error.code).toBe(code)
      expect(error.message).not.toContain('secret-value')
      expect(await one('1')).toBe(1)
    })
  })

  it('answers a repeated statement as any other, whatever its values, and after it has failed', async () => {
    const repeated = 'at any size'
    const again = { sql: 'SELECT $1::text AS text, $2::int[] AS list, 6 / $3::int AS share', repeated } as const
    const ask = async (...parameters: unknown[]) => (await sql.query({ ...again, parameters })).rows
    for (const text of ["it's", "\\'; DROP", '$1 $$', 'ü 🙂', '', null]) {
      expect(await ask(text, [1, 2], 3)).toEqual([{ text, list: [1, 2], share: 2 }])
    }
    expect((await failure(ask('', [], 0))).code).toBe('22012')
    expect((await failure(ask('', ['x'], 1))).code).toBe('22P02')
    const adding = (id: number) =>
      ({ sql: `INSERT INTO ${table} (id) VALUES ($1)`, parameters: [id], repeated }) as const
    expect((await failure(sql.batch([adding(900), adding(901), adding(900)]))).code).toBe('23505')
    const results = await sql.batch([adding(900), adding(901), statement(`SELECT id FROM ${table} WHERE id >= 900`)])
    expect(results.map(({ affected }) => affected)).toEqual([1, 1, 0])
    expect(results[2]?.rows).toHaveLength(2)
    expect((await sql.query(adding(902))).affected).toBe(1)
    const without = {
      sql: `SELECT count(*)::int AS count FROM ${table} WHERE id >= 900`,
      parameters: [],
      repeated,
    } as const
    for (let turn = 0; turn < 2; turn++) expect((await sql.query(without)).rows).toEqual([{ count: 3 }])
    await sql.query(statement(`DELETE FROM ${table} WHERE id >= 900`))
  })

  it('counts the rows that a change changed, and none for a select', async () => {
    const affected = async (text: string) => (await sql.query(statement(text))).affected
    expect(await affected(`INSERT INTO ${table} SELECT n, 'x' FROM generate_series(100, 104) AS n`)).toBe(5)
    expect(await affected(`UPDATE ${table} SET note = 'y' WHERE id >= 102`)).toBe(3)
    expect(await affected(`INSERT INTO ${table} VALUES (100, 'x') ON CONFLICT DO NOTHING`)).toBe(0)
    expect(await affected(`SELECT * FROM ${table}`)).toBe(0)
    expect(await affected(`DELETE FROM ${table} WHERE id BETWEEN 100 AND 104`)).toBe(5)
  })

  it('lets one of many conditional changes win', async () => {
    await sql.query(statement(`INSERT INTO ${table} VALUES (1, 'free')`))
    const attempts = Array.from({ length: 30 }, (_, n) =>
      sql.query(statement(`UPDATE ${table} SET note = $1 WHERE id = 1 AND note = 'free'`, `taken by ${n}`)),
    )
    const winners = (await Promise.all(attempts)).filter(({ affected }) => affected === 1)
    expect(winners).toHaveLength(1)
  })

  describe('a batch', () => {
    it('runs in order, in one transaction', async () => {
      const results = await sql.batch([
        statement(`INSERT INTO ${table} VALUES ($1, 'batch')`, 10),
        statement(`UPDATE ${table} SET id = id + 1 WHERE id = 10 RETURNING id`),
        statement('SELECT now() AS at'),
        statement('SELECT now() AS at'),
      ])
      expect(results.slice(0, 2)).toStrictEqual([
        { rows: [], affected: 1 },
        { rows: [{ id: 11 }], affected: 1 },
      ])
      expect(results[2]).toStrictEqual(results[3])
    })

    it('is all or nothing, and names the first failure', async () => {
      const failed = sql.batch([
        statement(`INSERT INTO ${table} VALUES (20, 'batch')`),
        statement(`INSERT INTO ${table} VALUES (20, 'again')`),
        statement('SELECT * FROM absent'),
      ])
      expect((await failure(failed)).code).toBe('23505')
      const { rows } = await sql.query(statement(`SELECT id FROM ${table} WHERE id = 20`))
      expect(rows).toStrictEqual([])
    })

    it('fails as a whole when what is checked at its end fails', async () => {
      const child = `${table}_child`
      await sql.query(
        statement(`CREATE TABLE ${child} (id int REFERENCES ${table} (id) DEFERRABLE INITIALLY DEFERRED)`),
      )
      const failed = sql.batch([statement(`INSERT INTO ${child} VALUES (404)`), statement('SELECT 1')])
      expect((await failure(failed)).code).toBe('23503')
      await sql.query(statement(`DROP TABLE ${child}`))
    })

    it('of nothing does nothing', async () => {
      expect(await sql.batch([])).toStrictEqual([])
    })

    it('does not mix with others that run at once', async () => {
      const batches = Array.from({ length: 20 }, (_, n) =>
        sql.batch([statement('SELECT $1::int AS n', n), statement('SELECT $1::int AS n', n + 100)]),
      )
      const answers = (await Promise.all(batches)).map((results) => results.map(({ rows }) => rows[0]?.n))
      expect(answers).toStrictEqual(Array.from({ length: 20 }, (_, n) => [n, n + 100]))
    })
  })

  it('answers a ping', async () => {
    await expect(sql.ping(5000)).resolves.toBeUndefined()
  })
}

/** What the adapters that speak to another process promise besides. `open` is given the address to speak to. */
export function remoteSqlContract(url: string, open: (url: string, timeoutMs: number) => Sql): void {
  const secretUrl = (port: number) => `postgres://postgres:pa55w%C3%B6rd@127.0.0.1:${port}/postgres`

  it('gives up on a statement that takes too long, and goes on', async () => {
    const sql = open(url, 300)
    const started = Date.now()
    const error = await sql.query(statement('SELECT pg_sleep(30)')).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(SqlError)
    expect(Date.now() - started).toBeLessThan(15_000)
    const batch = sql.batch([statement('SELECT 1'), statement('SELECT pg_sleep(5)')]).catch((thrown) => thrown)
    expect(await batch).toBeInstanceOf(SqlError)
    expect((await sql.query(statement('SELECT 1 AS n'))).rows).toStrictEqual([{ n: 1 }])
    await sql.close()
  })

  it('survives connections that the server ends', async () => {
    const sql = open(url, 5000)
    const suicide = statement('SELECT pg_terminate_backend(pg_backend_pid())')
    for (const work of [() => sql.query(suicide), () => sql.batch([statement('SELECT 1'), suicide])]) {
      expect(await work().catch((thrown) => thrown)).toMatchObject({ name: 'SqlError', code: '57P01' })
      const next = await Promise.all(Array.from({ length: 20 }, () => sql.query(statement('SELECT 1 AS n'))))
      expect(next.every(({ rows }) => rows[0]?.n === 1)).toBe(true)
    }
    await sql.close()
  })

  it('says that nobody is there without saying the address', async () => {
    const sql = open(secretUrl(1), 1000)
    const error = await sql.query(statement('SELECT 1')).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(SqlError)
    expect(error.code).toBeUndefined()
    expect(error.message).toMatch(/^The database cannot be reached/)
    expect(everythingOf(error)).not.toMatch(/pa55w|127\.0\.0\.1/)
    await expect(sql.ping(1000)).rejects.toBeInstanceOf(SqlError)
    await sql.close()
  })

  it('refuses what is no address without repeating it', () => {
    for (const address of ['', 'mysql://u:pa55word@h/d', 'postgres://u:pa55word@h:notaport/d']) {
      expect(() => open(address, 1000)).toThrow(/must have the form postgres:/)
      expect(() => open(address, 1000)).not.toThrow(/pa55word/)
    }
  })
}

function statement(sql: string, ...parameters: unknown[]): Statement {
  return { sql, parameters }
}

function everythingOf(error: Error): string {
  return [error.message, error.stack, error.cause, JSON.stringify(error)].join('\n')
}
