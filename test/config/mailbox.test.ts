import { describe, expect, it } from 'vitest'
import { isMailbox, wireMailbox } from '../../src/config/mailbox.ts'

describe('a mailbox', () => {
  it.each([
    'ann@example.com',
    'ann+invoices@example.com',
    "o'brien_x-1@mail.example.co.uk",
    'a@bücher.example',
    'jürgen@bücher.example',
    'a@xn--bcher-kva.example',
    '用户@例子.中国',
    `${'a'.repeat(64)}@example.com`,
  ])('may be %s', (text) => {
    expect(isMailbox(text)).toBe(true)
  })

  it.each([
    '',
    '@',
    'ann',
    'ann@',
    '@example.com',
    'ann@example',
    'ann@@example.com',
    'ann @example.com',
    'ann@exam ple.com',
    'a,b@example.com',
    'a@example.com,b@example.com',
    'Ann <ann@example.com>',
    '"ann"@example.com',
    'ann@example.com\r\nBcc: all@example.com',
    'ann\nx@example.com',
    'ann@example.com\0',
    'ann\0@example.com',
    '\ud800@example.com',
    'ann@\ud800.example',
    '.ann@example.com',
    'ann..x@example.com',
    'ann@[127.0.0.1]',
    'ann@127.0.0.1',
    'ann@example.com:25',
    'ann@example.com/x',
    'ann@user:x@example.com?',
    '\u202eann@example.com',
    `${'a'.repeat(65)}@example.com`,
    `a@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.${'e'.repeat(60)}.${'f'.repeat(60)}.com`,
    'a'.repeat(65_536),
    `a@${'a.'.repeat(32_768)}com`,
  ])('is not %j', (text) => {
    expect(isMailbox(text)).toBe(false)
  })

  it('is written on the wire with its domain in punycode', () => {
    expect(wireMailbox('Jürgen@Bücher.Example')).toBe('Jürgen@xn--bcher-kva.example')
    expect(wireMailbox('ann+x@example.com')).toBe('ann+x@example.com')
  })
})
