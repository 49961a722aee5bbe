import { describe, expect, it } from 'vitest'
import { openaiChatStream } from '../../../../src/providers/openai/chat-stream.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const chunk = (content: string, more = ',"usage":null') =>
  `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"${content}"},"finish_reason":null}]${more}}\n\n`

const STREAM = [
  chunk('Grüße'),
  chunk(' 1', ',"usage":null,"obfuscation":"xy"'),
  chunk(' 2', ', "usage": null , "service_tier":"default"'),
  chunk(' 3'),
  chunk(' 4'),
  chunk('\\",\\"usage\\":null'),
  chunk(' 5'),
  'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}\n\n',
  'data: [DONE]\n\n',
].join('')

/** What a client gets of the stream, in pieces of some size. */
function relayed(hideUsage: boolean, size: number): string {
  const bytes = encoder.encode(STREAM)
  const reader = openaiChatStream({ hideUsage })
  let out = ''
  for (let at = 0; at < bytes.length; at += size) {
    for (const step of reader.push(bytes.subarray(at, at + size))) {
      if (step.out) out += decoder.decode(step.out)
    }
  }
  return out
}

describe('an empty usage in every chunk', () => {
  it.each([1, 7, 300, 10_000])('is withheld from a client that did not ask for it, in pieces of %i', (size) => {
    const expected = STREAM.replace(/,\s*"usage":\s*null/g, '')
    expect(expected).toContain('\\"usage\\":null')
    expect(expected).not.toContain(',"usage":null')
    expect(relayed(true, size)).toBe(expected)
  })

  it.each([1, 10_000])('reaches a client that asked, byte for byte, in pieces of %i', (size) => {
    expect(relayed(false, size)).toBe(STREAM)
  })
})
