import { describe, expect, it } from 'vitest'
import { footprints } from '../../../src/lib/footprints.ts'
import { usageOf } from '../../../src/modes/usage.ts'
import { answerText, readAnswer } from '../../../src/pipeline/cache/answer-text.ts'
import type { CachedAnswer } from '../../../src/pipeline/cache/cache-use.ts'
import { collecting } from '../../../src/pipeline/cache/collected.ts'
import { eachInput, ofAllInputs, putTogether } from '../../../src/pipeline/cache/embedded-inputs.ts'
import { seededRandom } from '../../support/random.ts'

const encoder = new TextEncoder()
const answerOf = (body: string, pieces?: number[]): CachedAnswer => ({
  askedAt: 1_770_000_000_000,
  contentType: 'application/json',
  body,
  ...(pieces ? { pieces } : {}),
  usage: usageOf({ inputTokens: 3, outputTokens: 4 }),
  costNano: 17,
  deployment: 'größe|1\n',
  provider: 'openai',
})

describe('the stored text of an answer', () => {
  const long = 'Größe ☃ \n| 𝄞'.repeat(1000)

  it.each([false, true])('is read as it was written (compressed: %s)', async (compressed) => {
    for (const body of ['{}', '', 'a|b\nc', long]) {
      const answer = answerOf(body, body ? [encoder.encode(body).byteLength] : undefined)
      const text = await answerText(answer, compressed)
      expect(text.startsWith('1770000000000|')).toBe(true)
      expect(await readAnswer(text)).toEqual(answer)
    }
  })

  it('is compressed where that pays', async () => {
    expect((await answerText(answerOf(long), true)).length).toBeLessThan(long.length / 10)
    expect(typeof answerText(answerOf('{}'), true)).toBe('string')
  })

  it.each([false, true])(
    'that is damaged is none, wherever it is cut or changed (compressed: %s)',
    async (compressed) => {
      const text = await answerText(answerOf(long, [encoder.encode(long).byteLength]), compressed)
      const random = seededRandom(5)
      for (let turn = 0; turn < 100; turn++) {
        const cut = await readAnswer(text.slice(0, random.integer(0, text.length - 1)))
        // Some letters of the compressed form mean nothing.
        expect(compressed ? [undefined, long] : [undefined]).toContain(cut?.body)
        if (!compressed) continue
        const at = random.integer(20, text.length - 20)
        const changed = text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)
        expect([undefined, long]).toContain((await readAnswer(changed))?.body)
      }
      for (const damaged of [
        '',
        '|',
        '1|',
        '1|p',
        '1|p{}',
        '1|p{}\n',
        '1|x{}\nx',
        '1|z!!',
        `1|p{"length":1}\nx`,
        'x|p{}\n',
      ]) {
        expect(await readAnswer(damaged), damaged).toBeUndefined()
      }
      const wronglyCut = JSON.stringify({ ...answerOf('ab'), body: undefined, length: 2, pieces: [1] })
      expect(await readAnswer(`1|p${wronglyCut}\nab`)).toBeUndefined()
    },
  )
})

describe('an answer that is collected', () => {
  it('is what was sent, cut where it was cut, also within a letter', () => {
    const bytes = encoder.encode('Größe ☃')
    const collected = collecting(100, () => {})
    for (const [from, to] of [
      [0, 3],
      [3, 3],
      [3, 9],
      [9, 11],
    ] as const)
      collected.add(bytes.subarray(from, to))
    expect(collected.end()).toMatchObject({
      body: 'Größe ☃',
      pieces: [3, 6, bytes.byteLength - 9].filter((one) => one > 0),
    })
  })

  it.each([
    ['too large', encoder.encode('x'.repeat(101))],
    ['no text', new Uint8Array([0xff, 0xfe])],
    ['cut within a letter', encoder.encode('☃').subarray(0, 2)],
    ['empty', new Uint8Array()],
  ])('is dropped when it is %s', (_, bytes) => {
    const collected = collecting(100, () => {})
    collected.add(bytes)
    expect(collected.end()).toBeUndefined()
  })

  it('is dropped when there is no memory for it', () => {
    const memory = footprints({ total: 100, owner: 100 }, Date.now)
    memory.open('another').add(50)
    const own = memory.open('own')
    own.add(30)
    const collected = collecting(100, own.add)
    collected.add(encoder.encode('x'.repeat(20)))
    expect(memory.total).toBe(100)
    collected.add(encoder.encode('x'))
    expect(collected.end()).toBeUndefined()
  })
})

describe('answers to each input', () => {
  const facts = { usage: usageOf({ inputTokens: 100 }), costNano: 1001, deployment: 'd', provider: 'p', askedAt: 5 }
  const bodyOf = (indexes: readonly number[]) =>
    JSON.stringify({
      object: 'list',
      model: 'm',
      data: indexes.map((index) => ({ embedding: [index], index })),
      usage: { prompt_tokens: 9 },
    })

  it('share usage and cost exactly, and are in order whatever order the provider has', () => {
    const each = eachInput(bodyOf([2, 0, 1]), ['a', 'bbbb', 'cc'], facts)
    expect(each?.map(({ body }) => JSON.parse(body).data)).toEqual([0, 1, 2].map((at) => [{ embedding: [at] }]))
    expect(each?.reduce((sum, { costNano }) => sum + costNano, 0)).toBe(1001)
    expect(each?.reduce((sum, { usage }) => sum + (usage?.inputTokens ?? 0), 0)).toBe(100)
    const whole = ofAllInputs(each ?? [])
    expect(whole).toMatchObject({ costNano: 1001, usage: { inputTokens: 100 }, askedAt: 5 })
    expect(JSON.parse(whole.body)).toEqual({
      object: 'list',
      model: 'm',
      data: [0, 1, 2].map((index) => ({ embedding: [index], index })),
      usage: { prompt_tokens: 100, total_tokens: 100 },
    })
  })

  it.each(['', '{}', bodyOf([0]), bodyOf([0, 0]), bodyOf([0, 2]), bodyOf([0, 0.5]), '{"data":[1,2]}'])(
    'are none of an answer that is not one for each: %s',
    (body) => {
      expect(eachInput(body, ['a', 'b'], facts)).toBeUndefined()
      expect(() => putTogether([undefined, undefined], encoder.encode(body))).toThrow('one vector for each')
    },
  )
})
