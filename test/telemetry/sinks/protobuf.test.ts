import { expect, it } from 'vitest'
import { encode, type Message } from '../../../src/telemetry/sinks/otlp/protobuf.ts'

const inner: Message = { a: [1, 'int64'] }
const message: Message = {
  text: [1, 'string'],
  id: [2, 'hex'],
  time: [3, 'fixed64'],
  flags: [16, 'fixed32'],
  number: [5, 'int64'],
  real: [6, 'double'],
  is: [7, 'bool'],
  kind: [8, 'enum'],
  list: [9, inner],
  counts: [10, 'fixed64s'],
  reals: [11, 'doubles'],
  again: [12, () => inner],
}
const hex = (value: object) => Buffer.from(encode(value as Record<string, unknown>, message)).toString('hex')

// By the encoding that protobuf's documentation describes, worked out by hand.
it.each([
  [{ text: 'testing' }, '0a0774657374696e67'],
  [{ text: 'é' }, '0a02c3a9'],
  [{ id: '00f067aa' }, '120400f067aa'],
  [{ time: '1' }, '190100000000000000'],
  [{ time: '18446744073709551615' }, '19ffffffffffffffff'],
  [{ flags: 257 }, '850101010000'],
  [{ number: '150' }, '289601'],
  [{ number: -1 }, '28ffffffffffffffffff01'],
  [{ number: 0 }, '2800'],
  [{ real: 1 }, '31000000000000f03f'],
  [{ is: true }, '3801'],
  [{ kind: 3 }, '4003'],
  [{ list: [{ a: '150' }, {}] }, '4a03089601' + '4a00'],
  [{ counts: ['1', '2'] }, '5210' + '0100000000000000' + '0200000000000000'],
  [{ reals: [1] }, '5a08000000000000f03f'],
  [{ again: { a: 1 } }, '62020801'],
  [{ unknown: 1, text: undefined, number: null }, ''],
])('writes %j', (value, expected) => {
  expect(hex(value)).toBe(expected)
})

it('writes texts longer than its first buffer', () => {
  const text = 'x'.repeat(100_000)
  expect(hex({ text })).toBe(`0aa08d06${Buffer.from(text).toString('hex')}`)
})
