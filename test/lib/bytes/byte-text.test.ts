import { expect, it } from 'vitest'
import { byteText, encoded } from '../../../src/lib/bytes/byte-text.ts'

const decoder = new TextDecoder()

/** What is made of a text whose first room is tiny. */
function madeBy(write: (text: ReturnType<typeof byteText>) => void): string {
  const text = byteText(4)
  write(text)
  return decoder.decode(text.take())
}

it.each([
  ...['', 'plain', 'a "quoted" one', 'back\\slash', 'line\nand tab\t', '\u0000\u001f\u007f', 'Grüße', '日本', '👋'],
  ...['lone \ud800', '\udfff before', '\u2028', ' ', '~', '/'],
])('prints the string %j as JSON does', (text) => {
  expect(madeBy((to) => to.addString(text))).toBe(JSON.stringify(text))
})

it.each([
  ...[0, -0, 1, 9, 10, 99, 100, 12_345, 2 ** 31 - 1, 2 ** 31, 2 ** 53, 2 ** 60, -1, -12.5, 1e21, 5e-324],
  ...[0.1, 0.01, 0.001, 0.0001, 0.0005, 12.3, 12.034, 12.345, 12.3456, 0.1 + 0.2, 1 / 3, 2_147_483.647, 2_147_484.001],
  ...[4_194_303.999, 99.9995, 0.9999, 999.999, Number.NaN, Number.POSITIVE_INFINITY],
])('prints the number %d as JSON does', (value) => {
  expect(madeBy((to) => to.addNumber(value))).toBe(JSON.stringify(value))
})

it('prints thousandths, and what is next to them, as JSON does', () => {
  const wrong: number[] = []
  for (let turn = 0; turn < 50_000; turn++) {
    const thousandths = Math.round(Math.random() * 10 ** (turn % 10)) / 1000
    for (const value of [thousandths, thousandths * (1 + Number.EPSILON), Math.random() * thousandths]) {
      if (madeBy((to) => to.addNumber(value)) !== JSON.stringify(value)) wrong.push(value)
    }
  }
  expect(wrong).toEqual([])
})

it('adds texts one after the other, parts of it again, and begins anew when it is taken', () => {
  const text = byteText(4)
  text.addText('Grüße, ')
  const from = text.length
  text.add(encoded('aus "Köln"'))
  text.repeat(from, text.length)
  expect(decoder.decode(text.take())).toBe('Grüße, aus "Köln"aus "Köln"')
  expect(text.length).toBe(0)
  text.addText('next')
  expect(decoder.decode(text.take())).toBe('next')
})
