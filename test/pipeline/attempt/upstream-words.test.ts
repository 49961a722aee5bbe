import { describe, expect, it } from 'vitest'
import { upstreamWords } from '../../../src/pipeline/attempt/upstream-words.ts'

const words = (body: string) => upstreamWords(new TextEncoder().encode(body))

describe('the words of an upstream that refuses', () => {
  it.each([
    ['{"error":{"message":"No such model","type":"x"}}', 'No such model'],
    ['{"error":"No such model"}', 'No such model'],
    ['[{"error":{"code":429,"message":"Quota exceeded"}}]', 'Quota exceeded'],
    ['{"message":"Not\\n  authorized"}', 'Not authorized'],
    ['{"Message":"Not authorized"}', 'Not authorized'],
    ['{"detail":[{"loc":["body"],"message":"field required"}]}', 'field required'],
    ['{"errors":["first","second"]}', 'first'],
    ['{"error":{"message":""},"detail":"said here"}', 'said here'],
    [
      '<html><head><style>b{}</style><title>502</title></head><body><b>Bad gateway</b></body></html>',
      '502 Bad gateway',
    ],
    ['upstream connect error', 'upstream connect error'],
    ['{"ok":false}', ''],
    ['{"error":{"mess', ''],
    ['', ''],
  ])('%s', (body, said) => {
    expect(words(body)).toBe(said)
  })

  it('are bounded, whatever they are', () => {
    expect(words(`{"error":{"message":"${'x'.repeat(100_000)}"}}`)).toHaveLength(1000)
    expect(words('<'.repeat(1_000_000)).length).toBeLessThanOrEqual(1000)
    expect(words(`${'['.repeat(5000)}${']'.repeat(5000)}`)).toBe('')
  })
})
