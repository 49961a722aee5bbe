import { describe, expect, it } from 'vitest'
import { addressMatcher, isAddressRange } from '../../../src/lib/addresses/address-range.ts'

describe('a range of addresses', () => {
  it.each([
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['192.168.1.7', '192.168.1.7', true],
    ['192.168.1.7', '192.168.1.8', false],
    ['0.0.0.0/0', '203.0.113.9', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['10.0.0.0/8', '::ffff:10.1.2.3', true],
    ['::ffff:10.0.0.0/104', '10.1.2.3', true],
    ['2001:db8::/32', '2001:db8:ffff::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['::1', '0:0:0:0:0:0:0:1', true],
    ['::/0', '10.0.0.1', true],
    ['10.0.0.0/8', '', false],
    ['10.0.0.0/8', 'localhost', false],
    ['10.0.0.0/8', '10.0.0.1:8080', false],
  ])('%s holds %s: %s', (range, address, holds) => {
    expect(addressMatcher([range])(address)).toBe(holds)
  })

  it.each([
    '10.0.0.0/33',
    '10.0.0',
    '10.0.0.256',
    '010.0.0.1',
    '1::2::3',
    ':::',
    '1:2:3:4:5:6:7',
    '::/129',
    '1::/',
    'a',
    '',
  ])('%s is none', (text) => {
    expect(isAddressRange(text)).toBe(false)
    expect(addressMatcher([text])('10.0.0.1')).toBe(false)
  })

  it('of no ranges holds nothing', () => {
    expect(addressMatcher([])('10.0.0.1')).toBe(false)
  })
})
