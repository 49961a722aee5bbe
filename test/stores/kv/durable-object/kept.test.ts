import { describe, expect, it } from 'vitest'
import { keptMap } from '../../../../src/stores/kv/durable-object/kept-map.ts'
import { objectStore } from '../../../../src/stores/kv/durable-object/object-store.ts'
import { rows, type SqlStorage } from '../../../../src/stores/kv/durable-object/rows.ts'
import { durableObjectStore } from '../../../../src/stores/kv/durable-object.ts'
import type { Key } from '../../../../src/stores/kv/keys.ts'
import { testClock } from '../../../support/clock.ts'
import { objectStorage } from '../../../support/object-storage.node.ts'

const ignored = () => {}
const count = (sql: SqlStorage, table: string) => [...sql.exec(`SELECT count(*) AS n FROM ${table}`)][0]?.n

describe('rows', () => {
  it('hold texts that are longer than a row, and nothing of a longer text before', () => {
    const sql = objectStorage()
    const texts = rows(sql, 'kept_text', 'index')
    const long = 'ä🙂'.repeat(600_000)
    texts.put('one', { text: long, ends: 5 })
    expect(texts.get('one')).toEqual({ text: long, ends: 5 })
    expect(count(sql, 'kept_text')).toBe(3)
    // A part would end in the middle of a character.
    const odd = `x${long}`
    texts.put('one', { text: odd, ends: 5 })
    expect(texts.get('one')?.text === odd).toBe(true)
    texts.put('one', { text: '', ends: 6 })
    expect(texts.get('one')).toEqual({ text: '', ends: 6 })
    expect(count(sql, 'kept_text')).toBe(1)
  })
})

describe('a kept map', () => {
  it('gives memory back where it has very many entries, and has them all', () => {
    const clock = testClock()
    const form = { written: (value: { n: number }) => value, read: (written: unknown) => written as { n: number } }
    const map = keptMap(rows(objectStorage(), 'kept_record', 'scan'), 'of:', clock.now, ignored, form)
    for (let n = 0; n <= 10_000; n++) map.set(String(n), { n }, clock.now() + 1000)
    map.write()
    expect(map.size).toBe(0)
    for (const n of [0, 5000, 10_000]) expect(map.get(String(n))).toEqual({ n })
    clock.advance(1000)
    expect(map.get('5000')).toBeUndefined()
  })

  it('writes what was changed in place, and not what was only read', () => {
    const clock = testClock()
    const sql = objectStorage()
    const written: string[] = []
    const watched: SqlStorage = {
      exec(statement, ...values) {
        if (statement.startsWith('INSERT')) written.push(String(values[2]))
        return sql.exec(statement, ...values)
      },
    }
    const form = { written: (value: number[]) => value, read: (value: unknown) => value as number[] }
    const map = keptMap(rows(watched, 'kept_record', 'scan'), '', clock.now, ignored, form)
    map.set('list', [1], clock.now() + 1000)
    map.write()
    map.get('list')
    map.write()
    map.get('list')?.push(2)
    map.write()
    map.delete('list')
    map.write()
    expect(written).toEqual(['[1]', '[1,2]'])
    expect(count(sql, 'kept_record')).toBe(0)
  })
})

describe('the counters of an object', () => {
  const settled = (callId: string, counters: Record<string, number>) => ({
    ...{ callId, slots: [], budgets: [], outcomes: [], entries: [] },
    counters,
  })
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`calls{key_id="${n}"}`, n]))
  const rowsOf = (sql: SqlStorage) => [...sql.exec("SELECT name FROM kept_record WHERE name LIKE 'counters%'")]

  it('are written only where something was counted, and are all there in the next object', async () => {
    const sql = objectStorage()
    const written: unknown[] = []
    const watched: SqlStorage = {
      exec(statement, ...values) {
        if (statement.startsWith('INSERT') && String(values[0]).startsWith('counters')) written.push(values[0])
        return sql.exec(statement, ...values)
      },
    }
    const store = objectStore(watched, ignored)
    await store.ask('settle', [settled('first', many)])
    store.write()
    // With the number of its series.
    expect([written.length, rowsOf(sql).length]).toEqual([11, 11])
    written.length = 0
    await store.ask('settle', [settled('second', { 'calls{key_id="7"}': 1, 'calls{key_id="8"}': 1 })])
    store.write()
    store.write()
    expect(written).toHaveLength(1)

    const next = objectStore(watched, ignored)
    expect(await next.ask('counters', [])).toEqual({ ...many, 'calls{key_id="7"}': 8, 'calls{key_id="8"}': 9 })
    written.length = 0
    next.write()
    expect(written).toEqual([])
    // No series is counted a second time as new.
    await next.ask('settle', [settled('third', { 'calls{key_id="999"}': 1 })])
    next.write()
    expect(written).toHaveLength(1)
    expect(await next.ask('counters', [])).toMatchObject({ 'calls{key_id="999"}': 1000 })
  })

  it('of an earlier build, in one row, are divided', async () => {
    const sql = objectStorage()
    rows(sql, 'kept_record', 'scan').put('counters', { text: JSON.stringify(many), ends: Number.MAX_SAFE_INTEGER })
    const store = objectStore(sql, ignored)
    expect(await store.ask('counters', [])).toEqual(many)
    store.write()
    expect(rowsOf(sql)).toHaveLength(10)
    expect(await objectStore(sql, ignored).ask('counters', [])).toEqual(many)
  })
})

it('an object removes what has ended, and nothing else', async () => {
  const sql = objectStorage()
  const store = objectStore(sql, ignored)
  const HOUR = 3_600_000
  const at = Date.UTC(2026, 1, 10)
  const settled = (callId: string) => ({ callId, slots: [], budgets: [], outcomes: [], counters: {}, entries: [] })
  await store.ask('put', ['gateway:short', 'a', 60], at)
  await store.ask('put', ['gateway:long', 'b', 7200], at)
  await store.ask('settle', [settled('early')], at)
  store.write()
  await store.ask('settle', [settled('late')], at + 2 * HOUR - 1000)
  store.write()
  store.sweep()
  expect(count(sql, 'kept_text')).toBe(1)
  expect(count(sql, 'kept_settled')).toBe(1)
  expect(await store.ask('get', ['gateway:long'], at + 2 * HOUR - 1000)).toBe('b')
})

it('an object removes much in steps, between which calls are answered', async () => {
  const sql = objectStorage()
  const store = objectStore(sql, ignored)
  for (let n = 0; n < 250; n++) await store.ask('put', [`gateway:${n}`, 'a', 60], 0)
  await store.ask('get', ['gateway:0'], 60_000)
  expect([store.sweep(), count(sql, 'kept_text')]).toEqual([true, 150])
  expect([store.sweep(), store.sweep(), store.sweep()]).toEqual([true, false, false])
  expect(count(sql, 'kept_text')).toBe(0)
})

it('an object reads no more settled ids than it keeps, and of those the last', async () => {
  const sql = objectStorage()
  objectStore(sql, ignored)
  const idsOf = (row: number) => Array.from({ length: 10_000 }, (_, n) => [`call-${row}-${n}`, 0])
  const insert = 'INSERT INTO kept_settled (at, ids) VALUES (?, ?)'
  for (let row = 0; row < 15; row++) sql.exec(insert, 0, JSON.stringify(idsOf(row)))
  let read = 0
  function* counted(found: Iterable<Record<string, unknown>>) {
    for (const row of found) {
      read += 1
      yield row
    }
  }
  const watched: SqlStorage = {
    exec(statement, ...values) {
      const found = sql.exec(statement, ...values)
      return statement.startsWith('SELECT ids') ? counted(found) : found
    },
  }
  const store = objectStore(watched, ignored)
  expect(read).toBe(10)
  const settled = { slots: [], budgets: [], outcomes: [], counters: { calls: 1 }, entries: [] }
  for (const callId of ['call-14-9999', 'call-10-0', 'new']) await store.ask('settle', [{ ...settled, callId }], 0)
  expect(await store.ask('counters', [], 0)).toEqual({ calls: 1 })
})

it('is told apart from a store that is away where it fails itself, without words that may quote a request', async () => {
  const failing = (error: object) => durableObjectStore(() => ({ ask: () => Promise.reject(error) })).get('key' as Key)
  const error = Object.assign(new Error('canary'), { remote: true })
  await expect(failing(error)).rejects.toMatchObject({
    trouble: 'failed',
    message: expect.not.stringMatching('canary'),
  })
  await expect(failing(new Error('canary'))).rejects.toMatchObject({ trouble: 'unreachable' })
})
