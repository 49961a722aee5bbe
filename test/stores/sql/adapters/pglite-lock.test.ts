import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lockFolder } from '../../../../src/lib/folder-lock.node.ts'
import { pgliteSql } from '../../../../src/stores/sql/adapters/pglite.node.ts'
import { emptyDatabaseIn } from '../../../support/embedded-database.node.ts'

let place: string
const children: ChildProcess[] = []

beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'gateway-pglite-'))
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await rm(place, { recursive: true, force: true })
})

describe('a folder of PGlite', () => {
  it('belongs to one process, even when that is killed, and keeps what was written', async () => {
    const folder = join(place, 'postgres')
    await emptyDatabaseIn(folder)
    const first = processOf(`
      import { pgliteSql } from '${source('stores/sql/adapters/pglite')}'
      const sql = await pgliteSql({ folder: '${folder}' })
      await sql.query({ sql: 'CREATE TABLE kept (n int)', parameters: [] })
      await sql.query({ sql: 'INSERT INTO kept SELECT generate_series(1, 1000)', parameters: [] })
      say('open')
      setInterval(() => {}, 1000)
    `)
    expect(await first.line()).toBe('open')

    const refused = await pgliteSql({ folder }).catch((error: Error) => error)
    expect(String(refused)).toContain(`postgres is held by process ${first.pid}. Stop that one`)

    first.kill('SIGKILL')
    await first.ended
    const sql = await pgliteSql({ folder })
    const count = { sql: 'SELECT count(*) AS n FROM kept', parameters: [] }
    expect((await sql.query(count)).rows).toStrictEqual([{ n: '1000' }])

    await expect(pgliteSql({ folder })).rejects.toThrow(`held by process ${process.pid}`)
    await sql.close()
    const again = await pgliteSql({ folder })
    expect((await again.query(count)).rows).toStrictEqual([{ n: '1000' }])
    await again.close()
  }, 60_000)

  it('is set up anew after a first start that was killed half-way', async () => {
    const folder = join(place, 'postgres')
    const first = processOf(`
      import { pgliteSql } from '${source('stores/sql/adapters/pglite')}'
      say('starting')
      await pgliteSql({ folder: '${folder}' })
      say('open')
    `)
    expect(await first.line()).toBe('starting')
    while (!existsSync(join(folder, 'PG_VERSION'))) await new Promise((resolve) => setTimeout(resolve, 1))
    first.kill('SIGKILL')
    await first.ended
    expect(existsSync(`${folder}.unfinished`)).toBe(true)

    const sql = await pgliteSql({ folder })
    expect((await sql.query({ sql: 'SELECT 1 AS n', parameters: [] })).rows).toStrictEqual([{ n: 1 }])
    await sql.close()
    expect(existsSync(`${folder}.unfinished`)).toBe(false)
  }, 60_000)

  it('is left alone when it holds something else', async () => {
    const folder = join(place, 'letters')
    await mkdir(folder)
    await writeFile(join(folder, 'letter'), 'mine')
    for (const _ of ['once', 'again']) {
      await expect(pgliteSql({ folder })).rejects.toThrow('is not empty and holds no database')
      expect(await readdir(folder)).toStrictEqual(['letter'])
    }
  })

  it('is the same one by whatever path', async () => {
    const folder = join(place, 'postgres')
    await emptyDatabaseIn(folder)
    const sql = await pgliteSql({ folder })
    await symlink(folder, join(place, 'link'))
    await expect(pgliteSql({ folder: join(place, 'link') })).rejects.toThrow('is held by process')
    await sql.close()
  }, 60_000)
})

describe('lockFolder', () => {
  it('is won by one of many processes that race for what a killed one held', async () => {
    const path = join(place, 'lock')
    const holder = processOf(`
      import { lockFolder } from '${source('lib/folder-lock')}'
      lockFolder('${path}')
      say('held')
      setInterval(() => {}, 1000)
    `)
    expect(await holder.line()).toBe('held')
    const racers = Array.from({ length: 8 }, () =>
      processOf(`
        import { lockFolder } from '${source('lib/folder-lock')}'
        say('ready')
        process.stdin.once('data', () => {
          try { lockFolder('${path}'); say('won') } catch (error) { say(error.message) }
        })
      `),
    )
    for (const racer of racers) expect(await racer.line()).toBe('ready')
    holder.kill('SIGKILL')
    await holder.ended
    for (const racer of racers) racer.write('go')
    const outcomes = await Promise.all(racers.map((racer) => racer.line()))
    expect(outcomes.filter((outcome) => outcome === 'won')).toHaveLength(1)
    for (const outcome of outcomes) expect(outcome).toMatch(/^won$|is held by process/)
  })

  it('is free again when it was let go', () => {
    const path = join(place, 'lock')
    const release = lockFolder(path)
    expect(() => lockFolder(path)).toThrow(`${path} is held by process ${process.pid}`)
    release()
    lockFolder(path)()
  })
})

function source(name: string): string {
  return new URL(`../../../../src/${name}.node.ts`, import.meta.url).href
}

/** A process of its own that says lines. */
function processOf(program: string) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', `const say = console.log\n${program}`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  children.push(child)
  const lines: string[] = []
  let told = () => {}
  let rest = ''
  child.stdout.on('data', (chunk) => {
    rest += chunk
    const complete = rest.split('\n')
    rest = complete.pop() ?? ''
    lines.push(...complete)
    told()
  })
  return {
    pid: child.pid,
    ended: once(child, 'exit'),
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    write: (text: string) => child.stdin.write(text),
    async line(): Promise<string> {
      while (lines.length === 0)
        await new Promise<void>((resolve) => {
          told = resolve
        })
      return lines.shift() ?? ''
    },
  }
}
