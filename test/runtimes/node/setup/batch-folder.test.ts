import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { jsonLog } from '../../../../src/lib/log.ts'
import { type BatchFolder, batchFolder } from '../../../../src/runtimes/node/setup/batch-folder.node.ts'
import { folderClaims } from '../../../../src/stores/sql/batches/folder-claims.ts'
import { type Result, type Sql, SqlError, type Statement } from '../../../../src/stores/sql/sql.ts'
import { preparedSql } from '../../../support/prepared-database.ts'

const LOOKS_EVERY_MS = 15_000
const BYTES = new TextEncoder().encode('{}')

let home: string
let sql: Sql
let isAway = false
let nowMs = 0
let said: string[] = []
let asked: Promise<unknown>[] = []
const opened: BatchFolder[] = []
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'gateway-batch-folder-'))
  sql = await preparedSql()
})
afterEach(async () => {
  vi.useRealTimers()
  isAway = false
  await Promise.all(opened.splice(0).map((folder) => folder.close()))
  said = []
})
afterAll(async () => {
  await sql.close()
  await rm(home, { recursive: true })
})

/** A gateway's folder on the database of all. */
function open(name: string): BatchFolder {
  function query<Row>(statement: Statement): Promise<Result<Row>> {
    const answer = isAway ? Promise.reject(new SqlError('away')) : sql.query<Row>(statement)
    asked.push(answer)
    return answer
  }
  const log = jsonLog('info', (line) => said.push(JSON.parse(line).event))
  const folder = batchFolder(join(home, name), { claims: folderClaims({ ...sql, query }), log, now: () => nowMs })
  opened.push(folder)
  return folder
}
const put = (folder: BatchFolder) => folder.put('files/one', BYTES, 'application/jsonl')

/** Lets gateways look at the claim as often as they do in this time. */
async function pass(ms: number, gateways: readonly BatchFolder[]): Promise<void> {
  for (let passed = 0; passed < ms; passed += LOOKS_EVERY_MS) {
    nowMs += LOOKS_EVERY_MS
    asked = []
    vi.advanceTimersByTime(LOOKS_EVERY_MS)
    // A folder in use looks beside what it is asked; one that waits is asked behind the look that has begun.
    await Promise.allSettled(asked)
    await Promise.allSettled(gateways.map((gateway) => gateway.remove('files/none')))
  }
}

it('all gateways with one folder use it; one with another folder does not, says so, and may once they have ended', async () => {
  const [first, second] = [open('shared'), open('shared')]
  await put(first)
  const blob = await second.get('files/one')
  expect(await new Response(blob?.body).text()).toBe('{}')
  const other = open('other')
  await expect(put(other)).rejects.toThrow('batch.folder_not_shared')
  await expect(other.get('files/one')).rejects.toThrow('batch.folder_not_shared')
  expect([first, second, other].map((folder) => folder.isUsable())).toEqual([true, true, false])
  expect(new Set(said)).toEqual(new Set(['batch.folder_not_shared']))
  await Promise.all([first.close(), second.close()])
  await put(other)
  expect(other.isUsable()).toBe(true)
})

it('a folder that nobody has renewed for a minute is replaced, but not while the database is away', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const first = open('renewed')
  await put(first)
  const other = open('waiting')
  await pass(120_000, [first, other])
  expect([first.isUsable(), other.isUsable()]).toEqual([true, false])
  isAway = true
  await pass(120_000, [first, other])
  isAway = false
  // The other one is the first to look again.
  await pass(15_000, [other])
  await pass(60_000, [first, other])
  expect([first.isUsable(), other.isUsable()]).toEqual([true, false])
  // Killed: its claim stays, and nobody renews it.
  opened.splice(opened.indexOf(first), 1)
  vi.clearAllTimers()
  const again = open('waiting')
  await pass(60_000, [again])
  expect(again.isUsable()).toBe(false)
  await pass(30_000, [again])
  expect(again.isUsable()).toBe(true)
})
