import { expect, it } from 'vitest'
import { decode } from '../../../../src/stores/sql/adapters/decode.ts'
import { encode } from '../../../../src/stores/sql/adapters/encode.ts'

const TEXTS = 1009
const FLOATS = 1022
const any = <Value>(...values: readonly Value[]): Value => values[Math.floor(Math.random() * values.length)] as Value
const text = () =>
  Array.from({ length: any(0, 1, 5) }, () =>
    any('a', 'NULL', 'null', '"', '\\', '\n', '\u0001', ',', '{', '}', 'ß', '👋', ' '),
  ).join('')

it('encodes arrays of texts and of numbers so that they are read back', () => {
  for (let turn = 0; turn < 5000; turn++) {
    const texts = Array.from({ length: any(0, 1, 2, 5) }, () => text())
    expect(decode(TEXTS, encode(texts) as string)).toEqual(texts)
    const numbers = Array.from({ length: any(0, 1, 3) }, () => any(0, -1, 0.1, 12.345, 1e21, 5e-7, 2 ** 53))
    expect(decode(FLOATS, encode(numbers) as string)).toEqual(numbers)
  }
  expect(decode(FLOATS, encode([Number.NaN, Number.POSITIVE_INFINITY, 1]) as string)).toEqual([
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1,
  ])
  expect(encode([true, false, null])).toBe('{true,false,null}')
  expect(
    encode([
      ['a', '"'],
      ['b', 'c'],
    ]),
  ).toBe('{{"a","\\""},{"b","c"}}')
  expect(encode([new Date(0), { a: 1 }])).toBe('{"1970-01-01T00:00:00.000Z","{\\"a\\":1}"}')
})

it.each([['lone \ud800'], ['a', '\udc00b'], ['\0']])(
  'refuses the array %j, which Postgres cannot store',
  (...texts) => {
    expect(() => encode(texts)).toThrow(expect.objectContaining({ code: '22021' }))
  },
)
