import { describe, expect, it } from 'vitest'
import { withoutContent } from '../../../src/pipeline/settle/without-content.ts'
import { busyMs } from '../../support/busy-ms.ts'

const request = (content: unknown, more: object = {}) => ({
  model: 'gpt-4o-mini-2026',
  messages: [{ role: 'user', content }],
  ...more,
})

describe('the words of an upstream', () => {
  it.each([
    ['The provider failed with status 500.', 'Hello'],
    ["The model 'gpt-4o-mini-2026' does not exist", 'Hello'],
    ["This model's maximum context length is 8192 tokens.", 'Tell me of a context.'],
    ['Rate limit reached on requests per min. Limit: 3.', 'Which limit is there?'],
    ["Invalid role: 'user'", 'Hello'],
  ])('stay as they are where they quote nothing: %s', (words, content) => {
    expect(withoutContent(words, request(content))).toBe(words)
  })

  it.each([
    ['a stretch', 'Bad prompt: my secret plan is to leave!', 'My secret plan is to leave!', 'Bad prompt: […]'],
    [
      'in parts, even of words that errors are made of',
      'a the request is not found b and was sent in time c',
      'So the request is not found, and was sent in time',
      'a[…] b[…] c',
    ],
    ['a word', 'Cannot say rosebud.', 'the sledge is called Rosebud', 'Cannot say […].'],
    ['a part of a word', 'Cannot say rose.', 'the sledge is called Rosebud', 'Cannot say […].'],
    ['a short text', 'Not allowed: Bob Ross.', 'Bob Ross', 'Not allowed: […] […].'],
    ['an address', 'Cannot send to bob@x.io now', 'write to Bob@x.io', 'Cannot send to […] now'],
    ['a number', 'Bad number 4111111', 'my card is 4111111', 'Bad number […]'],
  ])('lose what they quote: %s', (_, words, content, told) => {
    expect(withoutContent(words, request(content))).toBe(told)
    expect(withoutContent(words, request([{ type: 'text', text: content }]))).toBe(told)
    expect(withoutContent(words, { model: 'm', input: content })).toBe(told)
    expect(withoutContent(words, { model: 'm', documents: ['x', { text: content }] })).toBe(told)
  })

  it('find a stretch wherever it begins', () => {
    const content = Array.from({ length: 60 }, (_, at) => String.fromCharCode(97 + ((at * 7) % 26))).join('')
    for (let at = 0; at < 40; at++) {
      const quoted = content.slice(at, at + 15)
      expect(withoutContent(`> ${quoted} <`, request(content))).toBe('> […] <')
    }
  })

  it('are not told where they cannot be compared in good time', () => {
    const busy = busyMs(() => {
      expect(withoutContent('a'.repeat(300), request('a'.repeat(1_000_000)))).toBe('')
      expect(withoutContent('Failed.', request('b'.repeat(3_000_000)))).toBe('')
      expect(withoutContent('İ failed.', request('Hello'))).toBe('')
      expect(withoutContent('请求失败', request('Hello'))).toBe('')
    })
    expect(busy).toBeLessThan(1000)
  })

  it('are compared with any shape of a request', () => {
    let deep: unknown = 'my secret plan is to leave'
    for (let level = 0; level < 20_000; level++) deep = [deep]
    const numbers = Array.from({ length: 100_000 }, (_, index) => index)
    const words = 'Said: my secret plan is to leave'
    expect(withoutContent(words, request(deep, { input: numbers, stop: null, temperature: 1 }))).toBe('Said: […]')
  })
})
