import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../../src/lib/errors.ts'
import { exactRecord } from '../../../src/lib/json/exact-json.ts'
import { boundJson, REQUEST_BOUNDS } from '../../../src/lib/json/json-bounds.ts'
import { parseRecord } from '../../../src/lib/json/lenient.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const many = (count: number, write: (index: number) => string) =>
  Array.from({ length: count }, (_, at) => write(at)).join()

/** What is counted, of a value that was built. */
function sizeOf(value: unknown): Omit<typeof REQUEST_BOUNDS, 'own'> {
  if (typeof value !== 'object' || value === null)
    return { members: 0, texts: typeof value === 'string' ? 1 : 0, commas: 0, levels: 0 }
  const inner = Object.values(value).map(sizeOf)
  const names = Array.isArray(value) ? 0 : inner.length
  return {
    members: inner.reduce((sum, { members }) => sum + members, 1 + names),
    texts: inner.reduce((sum, { texts }) => sum + texts, names),
    commas: inner.reduce((sum, { commas }) => sum + commas, Math.max(0, inner.length - 1)),
    levels: 1 + Math.max(0, ...inner.map(({ levels }) => levels)),
  }
}

function refusal(text: string, bounds = REQUEST_BOUNDS): string | null | undefined {
  try {
    boundJson(bytesOf(text), bounds)
    return undefined
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError)
    expect((error as GatewayError).status).toBe(400)
    return (error as GatewayError).code
  }
}

describe('the bounds of a JSON body', () => {
  it('count what the document holds, however it is written', () => {
    const value = fc.object({ maxDepth: 6 })
    fc.assert(
      fc.property(value, fc.nat(3), (document, indent) => {
        const text = JSON.stringify(document, null, indent)
        const written = JSON.parse(text)
        const bounds = { own: Object.keys(written).length, ...sizeOf(written) }
        expect(refusal(text, bounds)).toBeUndefined()
        for (const name of ['own', 'members', 'texts', 'commas', 'levels'] as const) {
          const code = name === 'levels' ? 'nested_too_deeply' : 'too_many_members'
          const least = name === 'levels' ? 1 : 0
          if (bounds[name] > least) expect(refusal(text, { ...bounds, [name]: bounds[name] - 1 }), name).toBe(code)
        }
      }),
      { numRuns: 300 },
    )
  })

  it.each([
    ['members of the body', `{${many(1001, (at) => `"k${at}":1`)}}`, 'too_many_members'],
    ['members inside', `{"a":{${many(200_000, (at) => `"k${at}":1`)}}}`, 'too_many_members'],
    ['empty objects', `{"a":[${many(200_000, () => '{}')}]}`, 'too_many_members'],
    ['empty lists', `[${many(200_000, () => '[]')}]`, 'too_many_members'],
    ['a list of objects', `[${many(100_001, () => '{"a":1}')}]`, 'too_many_members'],
    ['a million and one texts', `[${'"",'.repeat(1_000_000)}""]`, 'too_many_members'],
    ['five million numbers', `[${'1,'.repeat(5_000_001)}1]`, 'too_many_members'],
    ['lists in lists', '['.repeat(501), 'nested_too_deeply'],
    ['objects in objects', '{"a":'.repeat(501), 'nested_too_deeply'],
  ])('refuse too many: %s', (_, text, code) => {
    expect(refusal(text)).toBe(code)
  })

  it.each([
    ['2,048 lists of tokens', `{"input":[${many(2048, () => `[${many(2000, (at) => `${at}`)}]`)}]}`],
    ['a million texts, names included', `{"input":[${many(999_999, () => '"a:{["')}]}`],
    [
      '500 tools with 60 parameters each',
      `{"tools":[${many(500, () => `{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{${many(60, (at) => `"p${at}":{"type":"string","description":"x"}`)}}}}}`)}]}`,
    ],
    ['40,000 messages', `{"messages":[${many(40_000, () => '{"role":"user","content":"Hi"}')}]}`],
    ['a text of braces', `{"a":${JSON.stringify('{"a":['.repeat(300_000))}}`],
  ])('let pass: %s', (_, text) => {
    expect(refusal(text)).toBeUndefined()
  })

  it('are looked for with integers that a double rounds, and none is missed', () => {
    const mayBeLong = (value: string) =>
      boundJson(bytesOf(`{"text":"${'word '.repeat(150)}",${value}}`), REQUEST_BOUNDS)
    for (const digits of ['9007199254740993', '-9007199254740993', '9223372036854775807']) {
      for (const before of ['"a":', '"a" : ', '"a":[', '"a":[1,', '"a":[true,', '"a":["x",', '"a":[false , null,\n']) {
        for (const after of ['', ' ', ',1', ',"x"', ',true', ',null,{}']) {
          const value = before.includes('[') ? `${before}${digits}${after}]` : `${before}${digits}`
          expect([value, mayBeLong(value)]).toEqual([value, true])
        }
      }
    }
    expect(mayBeLong('"stream":true,"n":1,"at":1795491579,"note":"9007199254740993","list":[1,2.5,false]')).toBe(false)
  })

  it('are found in time that goes by the bytes alone', () => {
    const hostile = [
      `[${'\\"'.repeat(1_000_000)}]`,
      `["${'\\\\'.repeat(1_000_000)}"]`,
      `["${'\\"'.repeat(1_000_000)}"]`,
      `[${' '.repeat(2_000_000)}]`,
      ']'.repeat(2_000_000),
      `["${'"'.repeat(2_000_000)}`,
      `[${many(500_000, () => '"",')}]`,
    ]
    for (const text of hostile) {
      const bytes = bytesOf(text)
      const before = process.threadCpuUsage()
      boundJson(bytes, { ...REQUEST_BOUNDS, texts: Number.POSITIVE_INFINITY, commas: Number.POSITIVE_INFINITY })
      const { user, system } = process.threadCpuUsage(before)
      expect((user + system) / 1000, text.slice(0, 8)).toBeLessThan(200 * (bytes.byteLength / 1e6))
    }
  })
})

describe('the JSON of an upstream', () => {
  const list = (count: number, one: string) => `{"a":[${`${one},`.repeat(count - 1)}${one}]}`

  it('is built, unless it has a million members or two million texts', () => {
    expect(parseRecord(bytesOf(list(1_000_000, '{}')))).toBeUndefined()
    expect(exactRecord(list(1_000_000, '{}'))).toBeUndefined()
    expect(parseRecord(bytesOf(list(2_000_000, '""')))).toBeUndefined()
    expect(parseRecord(list(200_000, '1'))?.a).toHaveLength(200_000)
  })
})
