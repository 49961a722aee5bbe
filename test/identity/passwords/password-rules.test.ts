import { describe, expect, it } from 'vitest'
import { isCommonPassword } from '../../../src/identity/passwords/common-passwords.ts'
import { COMMON_PASSWORDS } from '../../../src/identity/passwords/common-passwords-data.ts'
import { requireGood } from '../../../src/identity/passwords/password-rules.ts'
import type { GatewayError } from '../../../src/lib/errors.ts'

function codeOf(password: string, email = 'ada.lovelace@example.com'): string | null {
  try {
    requireGood(password, email, 'new_password')
    return null
  } catch (error) {
    expect((error as GatewayError).status).toBe(400)
    expect((error as GatewayError).details.param).toBe('new_password')
    if (password !== '') expect((error as GatewayError).message).not.toContain(password)
    return (error as GatewayError).code
  }
}

describe('a new password', () => {
  it.each([
    ['correct horse battery', null],
    ['kurzes Pferd 🐎', null],
    ['Tr0ub4dor&3xy', null],
    [`a${'b c'.repeat(341)}`, null],
    ['eleven-char', 'password_too_short'],
    ['', 'password_too_short'],
    [`a${'b'.repeat(1024)}`, 'password_too_long'],
    ['xy'.repeat(32_768), 'password_too_long'],
    ['aaaaaaaaaaaaaa', 'password_repeats'],
    ['AaAaAaAaAaAaAa', 'password_repeats'],
    ['🐎'.repeat(12), 'password_repeats'],
    ['i am ADA.Lovelace', 'password_contains_email'],
    ['1qaz2wsx3edc', 'password_too_common'],
    ['Qwerty123456', 'password_too_common'],
    ['123456789987654321', 'password_too_common'],
    ['half a \ud800 character', 'password_unreadable'],
  ])('%j: %s', (password, code) => {
    expect(codeOf(password)).toBe(code)
  })

  it('is counted in characters, after normalisation', () => {
    // Twelve letters of two code units each, and eleven.
    expect(codeOf('𝔷𝔮𝔪𝔳𝔴𝔨𝔵𝔧𝔱𝔯𝔭𝔫', 'x@y.z')).toBe(null)
    expect(codeOf('𝔷𝔮𝔪𝔳𝔴𝔨𝔵𝔧𝔱𝔯𝔭')).toBe('password_too_short')
    // Each letter with an accent of its own is one.
    expect(codeOf('e\u0301o\u0308'.repeat(5))).toBe('password_too_short')
    // Wide letters are the same letters.
    expect(codeOf('１ｑａｚ２ｗｓｘ３ｅｄｃ')).toBe('password_too_common')
  })

  it('may hold a name before the @ that is too short to mean anything', () => {
    expect(codeOf('correct horse battery', 'co@example.com')).toBe(null)
    expect(codeOf('correct horse battery', 'cor@example.com')).toBe('password_contains_email')
    expect(codeOf('correct horse battery', '@example.com')).toBe(null)
  })
})

describe('the common passwords', () => {
  it('are ten thousand in less than twenty kilobytes', () => {
    expect(COMMON_PASSWORDS.count).toBe(10_000)
    expect(atob(COMMON_PASSWORDS.bits).length).toBeLessThan(20_000)
  })

  it('are found, with hardly any other', () => {
    for (const common of ['123qweasdzxc', 'qazwsxedcrfv', 'sonyericsson', 'leavemealone', 'password1234']) {
      expect(isCommonPassword(common), common).toBe(true)
    }
    const tried = 200_000
    let found = 0
    for (let index = 0; index < tried; index++) if (isCommonPassword(`none of these ${index}`)) found += 1
    expect(found / tried).toBeLessThan(1.5e-4)
  })
})
