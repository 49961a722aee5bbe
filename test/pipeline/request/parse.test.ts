import { expect, it } from 'vitest'
import { embedding } from '../../../src/modes/embedding.ts'
import { asMode } from '../../../src/modes/mode.ts'
import type { CallInput } from '../../../src/pipeline/call-input.ts'
import { parse } from '../../../src/pipeline/request/parse.ts'
import { busyMs } from '../../support/busy-ms.ts'

const inputOf = (text: string) =>
  ({ endpoint: { mode: asMode(embedding) }, bytes: new TextEncoder().encode(text) }) as unknown as CallInput
const listOf = (count: number) => `{"model":"m","input":[1${',0.5'.repeat(count)}]}`

it.each([
  ['read at once', 30_000],
  ['read when somebody needs it', 1_000_000],
])('a list of mistakes, %s, costs no more than its first', (_, count) => {
  const busy = busyMs(() => {
    const parsed = parse(inputOf(listOf(count)))
    const read = () => {
      if (parsed.error) throw parsed.error
      return parsed.request.input
    }
    expect(read).toThrow(/^input/)
  })
  expect(busy).toBeLessThan(1000)
})
