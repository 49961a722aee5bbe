import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { mayBeApiKey, newApiKey } from '../../src/lib/token.ts'

it('every key that is made can be one, and no two are the same', () => {
  const keys = Array.from({ length: 2000 }, newApiKey)
  expect(new Set(keys).size).toBe(2000)
  for (const key of keys) {
    expect(key).toMatch(/^sk-[\w-]{48}$/)
    expect(mayBeApiKey(key)).toBe(true)
  }
})

it('keys that were made before they had a checksum can be keys', () => {
  for (let turn = 0; turn < 500; turn++) expect(mayBeApiKey(`sk-${randomBytes(32).toString('base64url')}`)).toBe(true)
})

it('no key with one letter changed, left out, added or exchanged can be one', () => {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const key = newApiKey()
  for (let at = 3; at < key.length; at++) {
    for (const letter of letters) {
      if (letter !== key[at]) expect(mayBeApiKey(key.slice(0, at) + letter + key.slice(at + 1))).toBe(false)
    }
    expect(mayBeApiKey(key.slice(0, at) + key.slice(at + 1))).toBe(false)
    expect(mayBeApiKey(`${key.slice(0, at)}a${key.slice(at)}`)).toBe(false)
    if (key[at] !== key[at + 1] && at + 1 < key.length) {
      expect(mayBeApiKey(key.slice(0, at) + key[at + 1] + key[at] + key.slice(at + 2))).toBe(false)
    }
  }
})

it('what is made up cannot be one, whatever it holds', () => {
  const junk = Array.from({ length: 20_000 }, () => `sk-${randomBytes(36).toString('base64url')}`)
  expect(junk.filter(mayBeApiKey)).toEqual([])
  const odd = [
    '',
    'sk-',
    `sk-${'A'.repeat(48)}`,
    `sk-${'='.repeat(48)}`,
    `sk-${'\0'.repeat(48)}`,
    `sk-${'é'.repeat(48)}`,
  ]
  for (const one of [
    ...odd,
    `${newApiKey()}\n`,
    ` ${newApiKey()}`,
    newApiKey().toUpperCase(),
    `sk-${'B'.repeat(43)}`,
  ]) {
    expect(mayBeApiKey(one), one).toBe(false)
  }
})
