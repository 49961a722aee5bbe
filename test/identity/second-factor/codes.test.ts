import { describe, expect, it } from 'vitest'
import { newRecoveryCode, newSecret, otpauthUrl, readCode, stepOf } from '../../../src/identity/second-factor/codes.ts'
import { toBase32 } from '../../../src/lib/bytes/base32.ts'
import { totp } from '../../support/second-factor.ts'

// RFC 6238, appendix B: the last six digits of the codes for SHA-1.
const RFC_SECRET = toBase32(new TextEncoder().encode('12345678901234567890'))
const RFC_CODES = [
  [59, '287082'],
  [1111111109, '081804'],
  [1111111111, '050471'],
  [1234567890, '005924'],
  [2000000000, '279037'],
  [20000000000, '353130'],
] as const

describe('codes of an authenticator', () => {
  it('are those of RFC 6238', () => {
    for (const [seconds, code] of RFC_CODES) {
      expect(stepOf(code, RFC_SECRET, seconds * 1000)).toBe(Math.floor(seconds / 30))
      expect(totp(RFC_SECRET, Math.floor(seconds / 30))).toBe(code)
    }
  })

  it('are good for their step, and for a clock that is one step off', () => {
    const secret = newSecret()
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)
    const now = 1_800_000_015_000
    const step = now / 30_000 - 0.5
    const stepsOf = [-3, -2, -1, 0, 1, 2, 3].map((off) => stepOf(totp(secret, step + off), secret, now))
    expect(stepsOf).toEqual([undefined, undefined, step - 1, step, step + 1, undefined, undefined])
  })

  it('come from an address that every app reads alike', () => {
    const url = otpauthUrl(RFC_SECRET, { issuer: 'Model gateway gw.example:4000', account: 'ann+x@example.com' })
    expect(url).toBe(
      `otpauth://totp/Model%20gateway%20gw.example%204000:ann%2Bx%40example.com?issuer=Model%20gateway%20gw.example%204000&algorithm=SHA1&secret=${RFC_SECRET}&period=30&digits=6`,
    )
  })
})

describe('what was typed', () => {
  it('is a code of an authenticator', () => {
    for (const typed of ['123456', '123 456', ' 123456 ', '123-456']) {
      expect(readCode(typed)).toEqual({ kind: 'totp', code: '123456' })
    }
  })

  it('is a recovery code, whatever its case, its dashes, and what a hand makes of a zero or a one', () => {
    const code = newRecoveryCode()
    expect(code).toMatch(/^[0-9a-z]{5}-[0-9a-z]{5}$/)
    const read = { kind: 'recovery_code', code: code.replace('-', '') }
    for (const typed of [code, code.toUpperCase(), code.replace('-', ''), code.replace('-', ' '), `-${code}-`]) {
      expect(readCode(typed)).toEqual(read)
    }
    expect(readCode('OIL0o-abcde')).toEqual({ kind: 'recovery_code', code: '01100abcde' })
  })

  it('is neither', () => {
    const others = [
      '',
      '12345',
      '1234567',
      '１２３４５６',
      '١٢٣٤٥٦',
      '12345\0',
      '123456\n',
      'abcde-fghju',
      'é'.repeat(10),
    ]
    for (const typed of [...others, 'a'.repeat(11), '1'.repeat(65_536), ' '.repeat(65_536), '\ud800'.repeat(10)]) {
      expect(readCode(typed), typed.slice(0, 20)).toBeUndefined()
    }
  })
})
