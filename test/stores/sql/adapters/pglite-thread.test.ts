import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { promisify } from 'node:util'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openPglite, pgliteSql } from '../../../../src/stores/sql/adapters/pglite.node.ts'
import { emptyDatabaseIn } from '../../../support/embedded-database.node.ts'

const HEAVY = { sql: 'SELECT count(*) AS n FROM generate_series(1, 1500000)', parameters: [] }
const LIGHT = { sql: 'SELECT 1 AS n', parameters: [] }

let place: string
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'gateway-pglite-thread-'))
})
afterEach(() => rm(place, { recursive: true, force: true }))

/** The folder of a database that was set up before. */
async function prepared(): Promise<string> {
  const folder = join(place, 'postgres')
  await emptyDatabaseIn(folder)
  return folder
}

describe('PGlite on a thread of its own', { timeout: 60_000 }, () => {
  it('leaves the event loop to everybody else, while it is set up and while it works', async () => {
    const begun = performance.eventLoopUtilization()
    const { port: sql, opened } = openPglite()
    await opened
    const setUp = performance.eventLoopUtilization()
    const { rows } = await sql.query(HEAVY)
    const worked = performance.eventLoopUtilization()
    await sql.close()

    expect(rows).toStrictEqual([{ n: '1500000' }])
    for (const [after, before] of [
      [setUp, begun],
      [worked, setUp],
    ] as const) {
      const { active, idle } = performance.eventLoopUtilization(after, before)
      // Without work that takes long, this would show nothing.
      expect(active + idle).toBeGreaterThan(200)
      expect(active).toBeLessThan(idle)
    }
  })

  it('lets statements wait for the opening, in order', async () => {
    const { port: sql } = openPglite({ folder: await prepared() })
    const made = sql.query({ sql: 'CREATE TABLE t (n int)', parameters: [] })
    const filled = sql.query({ sql: 'INSERT INTO t VALUES (1), (2)', parameters: [] })
    const counted = sql.query({ sql: 'SELECT count(*) AS n FROM t', parameters: [] })
    await Promise.all([made, filled])
    expect((await counted).rows).toStrictEqual([{ n: '2' }])
    await sql.close()
  })

  it('answers late with an error, and later again', async () => {
    const sql = await pgliteSql({ folder: await prepared(), timeoutMs: 400 })
    await expect(sql.query({ ...HEAVY, sql: HEAVY.sql.replace('1500000', '4500000') })).rejects.toMatchObject({
      name: 'SqlError',
      message: 'The database did not answer within 400 ms.',
    })
    await expect.poll(() => sql.ping(50).then(() => 'there'), { timeout: 15_000 }).toBe('there')
    expect((await sql.query(LIGHT)).rows).toStrictEqual([{ n: 1 }])
    await sql.close()
  })

  it('fails what waits and what comes after, when the thread dies', async () => {
    const folder = await prepared()
    const born = new Promise<Worker>((resolve) => process.once('worker', resolve))
    const sql = await pgliteSql({ folder })
    const pending = expect(sql.query(HEAVY)).rejects.toMatchObject({ name: 'SqlError' })
    await (await born).terminate()
    await pending
    await expect(sql.query(LIGHT)).rejects.toMatchObject({ name: 'SqlError' })
    await expect(sql.ping(1000)).rejects.toMatchObject({ name: 'SqlError' })
    await sql.close()
  })

  it('fails what waits, when it is closed before it was open', async () => {
    const { port: sql, opened } = openPglite({ folder: await prepared() })
    const waiting = expect(sql.query(LIGHT)).rejects.toMatchObject({ name: 'SqlError' })
    await sql.close()
    await waiting
    await expect(opened).rejects.toMatchObject({ name: 'SqlError' })
    await sql.close()
  })
})

describe('a process with PGlite', { timeout: 60_000 }, () => {
  const run = (program: string) => promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
  const source = new URL('../../../../src/stores/sql/adapters/pglite.node.ts', import.meta.url).href

  it.each(['', 'await sql.close()'])(
    'ends when it has nothing more to do, and what it wrote is kept: %s',
    async (end) => {
      const folder = await prepared()
      await run(`
      import { pgliteSql } from '${source}'
      const sql = await pgliteSql({ folder: '${folder}' })
      await sql.query({ sql: 'CREATE TABLE kept (n int)', parameters: [] })
      ${end}
    `)
      const sql = await pgliteSql({ folder })
      expect((await sql.query({ sql: 'SELECT * FROM kept', parameters: [] })).rows).toStrictEqual([])
      await sql.close()
    },
  )

  it('is refused at once a folder that holds something else, and may have it when that is gone', async () => {
    const folder = join(place, 'postgres')
    await writeFile(folder, 'a file')
    await expect(pgliteSql({ folder })).rejects.toThrow('EEXIST')
    await rm(folder)
    await emptyDatabaseIn(folder)
    const { port, opened } = openPglite({ folder })
    expect(() => openPglite({ folder })).toThrow(`is held by process ${process.pid}`)
    await opened
    await port.close()
  })
})
