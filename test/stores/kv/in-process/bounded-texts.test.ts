import { expect, it } from 'vitest'
import { boundedTexts } from '../../../../src/stores/kv/in-process/bounded-texts.ts'

it('has at most so many characters, and drops those that were not read for the longest', () => {
  const texts = boundedTexts(() => 0, 10)
  for (const key of ['a', 'b', 'c']) texts.set(key, 'xxx', 1)
  expect(texts.get('a')).toBe('xxx')
  texts.set('d', 'xxx', 1)
  expect(['a', 'b', 'c', 'd'].filter((key) => texts.get(key) !== undefined)).toEqual(['a', 'c', 'd'])
  expect(texts.characters).toBe(9)
  texts.set('a', 'x', 1)
  expect(texts.characters).toBe(7)
  texts.set('e', 'x'.repeat(11), 1)
  expect(texts.get('e')).toBeUndefined()
  expect(texts.characters).toBe(7)
  texts.set('e', 'x'.repeat(10), 1)
  expect(texts.characters).toBe(10)
  expect(texts.get('a')).toBeUndefined()
  texts.delete('e')
  expect(texts.characters).toBe(0)
})

it('forgets a text at its end', () => {
  let now = 0
  const texts = boundedTexts(() => now, 10)
  texts.set('a', 'xxx', 5)
  now = 4
  expect(texts.get('a')).toBe('xxx')
  now = 5
  expect(texts.get('a')).toBeUndefined()
  expect(texts.characters).toBe(0)
})
