import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contentCheck } from '../../../src/batch/files/content-check.ts'

const LINES = [
  '{"body":{"tools":[{"type":"mcp","server":"s"}]}}',
  '{"body":{"tools":[{"type":"\\u006Dcp","server":"s"}]}}',
  '{"body":{"tools":[{"type":"mcp","server_url":"https://x"}]}}',
  '{"body":{"messages":"mcp ä€😀"}}',
  '{"body":{}}',
  '{"mcp',
  '',
  ' \t',
]
const managed = new Set(LINES.slice(0, 2))

describe('the check of a file', () => {
  it('counts its lines and finds the first with managed tools, however it is cut', async () => {
    const lines = fc.array(fc.constantFrom(...LINES), { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(
        lines,
        fc.constantFrom('\n', '\r\n'),
        fc.integer({ min: 1, max: 70 }),
        async (texts, end, size) => {
          const bytes = new TextEncoder().encode(texts.join(end))
          const check = contentCheck({ fileBytes: 10_000, lineBytes: 1000 })
          for (let from = 0; from < bytes.byteLength; from += size) check.push(bytes.slice(from, from + size))
          const full = texts.filter((text) => text.trim() !== '').length
          if (full === 0) {
            expect(() => check.end()).toThrow(bytes.byteLength === 0 ? /empty/ : /blank/)
            return
          }
          const first = texts.findIndex((text) => managed.has(text))
          const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
          expect(check.end()).toEqual({
            bytes: bytes.byteLength,
            lines: full,
            managedToolsLine: first === -1 ? null : first + 1,
            sha256: Buffer.from(digest).toString('hex'),
          })
        },
      ),
      { numRuns: 500 },
    )
  })
})
