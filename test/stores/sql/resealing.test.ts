import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { readSaltKey, successorOf } from '../../../src/lib/sealing/salt-key.ts'
import { sealUnder } from '../../../src/lib/sealing/seal.ts'
import { secret } from '../../../src/lib/secret.ts'
import { nodePostgresSql } from '../../../src/stores/sql/adapters/node-postgres.node.ts'
import { resealing, type SealedPlaces } from '../../../src/stores/sql/resealing.ts'
import { requireSameSalt } from '../../../src/stores/sql/schema/same-salt.ts'
import { sealedCounts } from '../../../src/stores/sql/schema/sealed-columns.ts'
import type { Sql } from '../../../src/stores/sql/sql.ts'
import { preparedEmbeddedSql } from '../../support/embedded-database.node.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'

const postgresUrl = inject('postgresUrl')
const FORMER = 'salt-of-the-former-0f4d1b7a93'
const NOW = successorOf(FORMER)
const [former, now] = [secret(FORMER), secret(NOW)]
const [v1, v2] = [readSaltKey(FORMER).mark, readSaltKey(NOW).mark]
const placeOf = (row: Readonly<Record<string, unknown>>) => String(row.name ?? row.email_id)
const places = new Proxy({}, { get: () => placeOf }) as SealedPlaces

const DATABASES: readonly [string, boolean, () => Promise<Sql>][] = [
  [
    'PostgreSQL',
    postgresUrl !== '',
    async () => nodePostgresSql({ connectionString: await preparedDatabase(postgresUrl) }),
  ],
  ['the embedded database', true, preparedEmbeddedSql],
]

describe.each(DATABASES)('in %s', (_, isThere, open) => {
  // On a machine without a PostgreSQL; with `CI` set that is a failure of its own.
  if (!isThere) return it.skip('is not on this machine')
  let sql: Sql
  beforeAll(async () => {
    sql = await open()
  })
  beforeEach(async () => {
    for (const table of ['gateway_installation', 'gateway_credential', 'gateway_email'])
      await rows(`DELETE FROM ${table}`)
    await requireSameSalt(sql, { salt_key: former })
  })
  afterAll(() => sql?.close())

  const rows = async (text: string, parameters: unknown[] = []) => (await sql.query({ sql: text, parameters })).rows
  const sealed = () => rows('SELECT name, sealed FROM gateway_credential ORDER BY name')

  async function made(count: number, seal = sealUnder(former)): Promise<void> {
    const texts = await Promise.all(Array.from({ length: count }, (_, at) => seal.close(`secret ${at}`, `c-${at}`)))
    await rows(
      `INSERT INTO gateway_credential (name, provider, gateway_params, sealed)
       SELECT 'c-' || (at - 1), 'openai', '{}', text FROM unnest($1::text[]) WITH ORDINALITY AS given (text, at)`,
      [texts],
    )
  }

  const run = (goOn: () => boolean = () => true) =>
    resealing(sql, { seal: sealUnder(now, [former]), places, former: v1, mark: v2 })(goOn)

  /** Every credential opens under the new key alone. */
  async function expectAll(count: number): Promise<void> {
    const seal = sealUnder(now)
    const found = await sealed()
    expect(found).toHaveLength(count)
    for (const { name, sealed: text } of found) {
      expect(await seal.open(String(text), String(name))).toBe(`secret ${String(name).slice(2)}`)
    }
  }

  it('everything is sealed anew, as nothing else of its row, and then the former key is not needed any more', async () => {
    await made(250)
    await rows(
      "INSERT INTO gateway_email (email_id, kind, recipient, sealed) VALUES ('e-1', 'invitation', 'a@b.example', $1)",
      [await sealUnder(former).close('secret e', 'e-1')],
    )
    const rest = 'SELECT name, version, updated_at, rotated_at FROM gateway_credential ORDER BY name'
    const before = await rows(rest)
    expect(await sealedCounts(sql, v1)).toEqual([
      { what: 'credentials', count: 250 },
      { what: 'e-mails', count: 1 },
    ])
    await expect(requireSameSalt(sql, { salt_key: now })).rejects.toThrow(
      /250 credentials, 1 e-mails.*GATEWAY_SALT_KEY_PREVIOUS/,
    )
    expect(await run()).toEqual({ resealed: 251, unreadable: 0, missed: 0, isOver: true })
    await expectAll(250)
    expect(await rows(rest)).toEqual(before)
    expect(await sealedCounts(sql, v1)).toEqual([])
    await requireSameSalt(sql, { salt_key: now })
    await requireSameSalt(sql, { salt_key: former, salt_key_next: now })
    await expect(requireSameSalt(sql, { salt_key: former })).rejects.toThrow('GATEWAY_SALT_KEY_NEXT')
    expect(await run()).toEqual({ resealed: 0, unreadable: 0, missed: 0, isOver: true })
  })

  it('a run that ends anywhere is gone on with by the next one', async () => {
    await made(350)
    let steps = 0
    expect(await run(() => ++steps <= 2)).toMatchObject({ resealed: 200, isOver: false })
    await expect(requireSameSalt(sql, { salt_key: now })).rejects.toThrow('150 credentials')
    await requireSameSalt(sql, { salt_key: now, salt_key_previous: former })
    expect(await run()).toMatchObject({ resealed: 150, isOver: true })
    await expectAll(350)
  })

  it('what a process with the former key has sealed meanwhile is found by the next run', async () => {
    await made(3)
    await run()
    await rows('UPDATE gateway_credential SET sealed = $1 WHERE name = $2', [
      await sealUnder(former, [now]).close('secret 1', 'c-1'),
      'c-1',
    ])
    expect(await run()).toMatchObject({ resealed: 1, isOver: true })
    await expectAll(3)
  })

  it('a change between reading and writing stays, and is sealed anew later', async () => {
    await made(2)
    const seal = sealUnder(now, [former])
    const changed = await sealUnder(former).close('secret 0', 'c-0')
    const interfering = {
      ...seal,
      async open(text: string, place: string) {
        if (place === 'c-0') await rows("UPDATE gateway_credential SET sealed = $1 WHERE name = 'c-0'", [changed])
        return seal.open(text, place)
      },
    }
    const once = await resealing(sql, { seal: interfering, places, former: v1, mark: v2 })(() => true)
    expect(once).toMatchObject({ resealed: 1, missed: 1, isOver: false })
    expect((await sealed())[0]?.sealed).toBe(changed)
    expect(await run()).toMatchObject({ resealed: 1, isOver: true })
    await expectAll(2)
  })

  it('any number of processes do it at once', async () => {
    await made(300)
    const runs = await Promise.all([run(), run(), run()])
    expect(runs.reduce((sum, { resealed }) => sum + resealed, 0)).toBe(300)
    expect(await run()).toMatchObject({ resealed: 0, isOver: true })
    await expectAll(300)
  })

  it('what no key opens stays as it is, and holds nothing up', async () => {
    await made(101)
    const lost = await sealUnder(secret('salt-that-is-lost-0f4d1b7a93')).close('gone', 'a-0')
    await rows(
      "INSERT INTO gateway_credential (name, provider, gateway_params, sealed) VALUES ('a-0', 'openai', '{}', $1)",
      [lost],
    )
    expect(await run()).toEqual({ resealed: 101, unreadable: 1, missed: 0, isOver: true })
    expect((await sealed())[0]).toEqual({ name: 'a-0', sealed: lost })
    await requireSameSalt(sql, { salt_key: now })
  })
})
