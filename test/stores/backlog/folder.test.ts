import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { jsonLog } from '../../../src/lib/log.ts'
import type { Backlog, Backlogs } from '../../../src/stores/backlog/backlog.ts'
import { folderBacklogs } from '../../../src/stores/backlog/folder.node.ts'

const MIB = 1024 * 1024

describe('a backlog in a folder', () => {
  let folder: string
  const open: Backlogs[] = []
  const lines: Record<string, unknown>[] = []
  beforeEach(() => {
    folder = join(mkdtempSync(join(tmpdir(), 'gateway-backlog-')), 'backlog')
    lines.length = 0
  })
  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()))
    rmSync(join(folder, '..'), { recursive: true, force: true })
  })

  function backlogs(maxBytes = 100 * MIB): Backlogs {
    const made = folderBacklogs({
      folder,
      maxBytes,
      reserved: new Set(['first']),
      log: jsonLog('debug', (line) => lines.push(JSON.parse(line))),
    })
    open.push(made)
    made.adopt()
    return made
  }
  const entries = (count: number, from = 0, padding = '') =>
    Array.from({ length: count }, (_, index) => ({ id: from + index, padding }))
  async function drained(backlog: Backlog, limit = 100): Promise<number[]> {
    const ids: number[] = []
    for (;;) {
      const some = (await backlog.first(limit)) as { id: number }[]
      if (some.length === 0) return ids
      ids.push(...some.map(({ id }) => id))
      await backlog.remove(some.length)
    }
  }
  const ids = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index)
  const files = () => readdirSync(folder, { recursive: true }).filter((name) => String(name).endsWith('.jsonl'))

  it('has room for the end beside it: made at a start, freed once, never where nothing is to be kept', async () => {
    const room = () => statSync(`${folder}.reserve`, { throwIfNoEntry: false })
    expect(backlogs(0).makeRoom()).toBe(false)
    expect(room()).toBeUndefined()
    const one = backlogs()
    await expect.poll(() => room()?.size).toBe(8 * MIB)
    expect((room()?.mode ?? 0) & 0o777).toBe(0o600)
    expect([one.makeRoom(), one.makeRoom(), room()]).toEqual([true, false, undefined])
    // A start that was killed while it made it.
    writeFileSync(`${folder}.reserve`, 'half')
    const next = backlogs()
    await expect.poll(() => room()?.size).toBe(8 * MIB)
    expect(next.makeRoom()).toBe(true)
  })

  it('gives back what it was given, in order, and leaves nothing behind', async () => {
    const backlog = backlogs().of('ledger')
    expect(backlog.isEmpty).toBe(true)
    expect(await backlog.append(entries(1200))).toBe(1200)
    expect([backlog.isEmpty, backlog.depth]).toEqual([false, 1200])
    expect(await backlog.first(2)).toEqual(entries(2))
    expect(await backlog.first(2)).toEqual(entries(2))
    await backlog.remove(2)
    expect(await backlog.append(entries(10, 1200))).toBe(10)
    expect(backlog.depth).toBe(1208)
    expect(await drained(backlog)).toEqual(ids(1208, 2))
    expect([backlog.isEmpty, backlog.depth, files()]).toEqual([true, 0, []])
    expect(lines).toEqual([])
  })

  it('holds more than fits into one file, while it is read and written at once', async () => {
    const backlog = backlogs().of('ledger')
    const padding = 'ü'.repeat(1000)
    const seen: number[] = []
    let written = 0
    const writer = (async () => {
      for (; written < 12_000; written += 1000) await backlog.append(entries(1000, written, padding))
    })()
    const reader = (async () => {
      while (seen.length < 12_000) {
        const some = (await backlog.first(700)) as { id: number }[]
        seen.push(...some.map(({ id }) => id))
        await backlog.remove(some.length)
        if (some.length === 0) await wait(5)
      }
    })()
    await Promise.all([writer, reader])
    expect(seen).toEqual(ids(12_000))
    expect(await drained(backlog)).toEqual([])
    expect(files()).toEqual([])
  })

  it('is bounded in bytes, keeps whole entries up to there, and has room again when some are gone', async () => {
    const room = backlogs(MIB)
    const backlog = room.of('ledger')
    const kept = await backlog.append(entries(5000, 0, 'x'.repeat(300)))
    expect(kept).toBeGreaterThan(2000)
    expect(kept).toBeLessThan(3500)
    expect(await backlog.append(entries(500, 0, 'x'.repeat(300)))).toBe(0)
    const bytes = () => files().reduce((sum, file) => sum + statSync(join(folder, String(file))).size, 0)
    expect(bytes()).toBeLessThanOrEqual(MIB)
    // Another topic has a reserve of its own, which ends as well.
    const first = room.of('first')
    expect(await first.append(entries(100, 0, 'x'.repeat(300)))).toBe(100)
    expect(await first.append(entries(100_000))).toBeLessThan(10_000)
    expect(bytes()).toBeLessThanOrEqual(MIB * (17 / 16))
    expect(await drained(backlog)).toEqual(ids(kept))
    expect(await backlog.append(entries(100))).toBe(100)
  })

  it('keeps nothing where it may not, and says so once', async () => {
    expect(await backlogs(0).of('ledger').append(entries(5))).toBe(0)
    expect(existsSync(folder)).toBe(false)
    writeFileSync(folder, 'not a folder')
    const backlog = backlogs().of('ledger')
    expect(await backlog.append(entries(5))).toBe(0)
    expect(await backlog.append(entries(5))).toBe(0)
    expect(await backlog.first(5)).toEqual([])
    expect(lines.map(({ event }) => event)).toEqual(['backlog.failed'])
    rmSync(folder)
    expect(await backlog.append(entries(5))).toBe(5)
  })

  it.skipIf(process.getuid?.() === 0)('keeps nothing in a folder that it cannot write to', async () => {
    const backlog = backlogs().of('ledger')
    await backlog.append(entries(1))
    chmodSync(join(folder, '0'), 0o500)
    await drained(backlog)
    expect(await backlog.append(entries(5))).toBe(0)
    chmodSync(join(folder, '0'), 0o700)
    expect(await backlog.append(entries(5))).toBe(5)
  })

  it('skips what a process was writing when it died, and nothing else', async () => {
    const before = backlogs()
    await before.of('ledger').append(entries(3))
    await before.close()
    const [file] = files()
    appendFileSync(join(folder, String(file)), '{"id":3,"pad')
    const after = backlogs().of('ledger')
    expect(await drained(after, 2)).toEqual([0, 1, 2])
    expect(lines.map(({ event }) => event)).toEqual(['backlog.failed'])
    expect(after.isEmpty).toBe(true)
  })

  it('comes back in order with the next process, together with what others left', async () => {
    const [one, other] = [backlogs(), backlogs()]
    await one.of('ledger').append(entries(10))
    await wait(2)
    await other.of('ledger').append(entries(10, 10))
    await other.of('audit').append(entries(1))
    await one.close()
    // One of the two still lives.
    const third = backlogs()
    expect(await drained(third.of('ledger'))).toEqual(ids(10))
    await other.close()
    third.adopt()
    expect(third.of('audit').isEmpty).toBe(false)
    expect(await drained(third.of('ledger'))).toEqual(ids(10, 10))
    expect(await drained(third.of('audit'))).toEqual([0])
  })

  it('of a process that was killed is taken over by exactly one of those that come after', async () => {
    const module = new URL('../../../src/stores/backlog/folder.node.ts', import.meta.url).href
    const program = (then: string) => `
      import { folderBacklogs } from '${module}'
      const log = { warn: console.error, error: console.error, info() {}, debug() {} }
      const all = folderBacklogs({ folder: '${folder}', maxBytes: 1e9, reserved: new Set(), log })
      ${then}`
    const writer = spawn(process.execPath, [
      '--input-type=module',
      '-e',
      program(`
        for (let id = 0; ; id += 20) {
          await all.of('ledger').append(Array.from({ length: 20 }, (_, index) => ({ id: id + index })))
          console.log(id + 20)
        }`),
    ])
    let told = ''
    writer.stdout.on('data', (text) => {
      told += text
    })
    await expect.poll(() => told.split('\n').length, { timeout: 20_000 }).toBeGreaterThan(50)
    writer.kill('SIGKILL')
    await once(writer, 'close')
    const promised = Number(told.trim().split('\n').at(-1))
    const readers = await Promise.all(
      Array.from({ length: 3 }, async () =>
        outputOf(
          program(`
            all.adopt()
            const ids = []
            for (;;) {
              const some = await all.of('ledger').first(1000)
              if (some.length === 0) break
              ids.push(...some.map(({ id }) => id))
              await all.of('ledger').remove(some.length)
            }
            console.log(JSON.stringify(ids))`),
        ),
      ),
    )
    const [found, ...others] = readers.sort((one, other) => other.length - one.length)
    expect(found?.slice(0, promised)).toEqual(ids(promised))
    // What was written last may have come further than it was told.
    expect(found?.length).toBeLessThanOrEqual(promised + 20)
    expect(others).toEqual([[], []])
  }, 60_000)
})

async function outputOf(program: string): Promise<number[]> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program])
  let output = ''
  child.stdout.on('data', (text) => {
    output += text
  })
  await once(child, 'close')
  return JSON.parse(output)
}
