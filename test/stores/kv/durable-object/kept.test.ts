import { describe, expect, it } from 'vitest'
import { keptMap } from '../../../../src/stores/kv/durable-object/kept-map.ts'
import { objectStore } from '../../../../src/stores/kv/durable-object/object-store.ts'
import { rows, type SqlStorage } from '../../../../src/stores/kv/durable-object/rows.ts'
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
