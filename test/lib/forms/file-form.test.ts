import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joinBytes } from '../../../src/lib/bytes/bytes.ts'
import { fileForm } from '../../../src/lib/forms/file-form.ts'

const encoder = new TextEncoder()
const TYPE = 'multipart/form-data; boundary=b'

/** A form whose bytes come cut at these places. */
function arriving(bytes: Uint8Array, cuts: readonly number[]) {
  const ends = [...new Set([...cuts.map((cut) => cut % (bytes.byteLength + 1)), bytes.byteLength])].sort(
    (a, b) => a - b,
  )
  let from = 0
  const read = async () => {
    for (const end of ends) {
      if (end <= from) continue
      const piece = bytes.slice(from, end)
      from = end
      return piece
    }
    return undefined
  }
  return fileForm({ read, close: () => {} }, TYPE, 'file')
}

describe('a form with a file', () => {
  it('gives the bytes of the file and the fields around it, however it is cut', async () => {
    // What looks like the beginning of a boundary is common in it.
    const content = fc
      .array(fc.constantFrom('\r', '\n', '-', '--b', '\r\n--', '\r\n--', 'x', 'ä'), { maxLength: 60 })
      .map((pieces) => pieces.join(''))
      .filter((text) => !`\r\n${text}\r\n`.includes('\r\n--b'))
    await fc.assert(
      fc.asyncProperty(content, fc.boolean(), fc.array(fc.nat(), { maxLength: 30 }), async (text, isFirst, cuts) => {
        const file = `--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n${text}\r\n`
        const field = '--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
        const body = `${isFirst ? file + field : field + file}--b--\r\n`
        const form = arriving(encoder.encode(body), cuts)
        expect((await form.file()).filename).toBe('a')
        const pieces: Uint8Array[] = []
        for (let piece = await form.read(); piece; piece = await form.read()) {
          expect(piece.byteLength).toBeGreaterThan(0)
          pieces.push(piece.slice())
        }
        expect(new TextDecoder().decode(joinBytes(pieces))).toBe(text)
        expect(await form.read()).toBeUndefined()
        await form.end()
        expect([...form.fields()]).toEqual([['purpose', 'batch']])
      }),
      { numRuns: 500 },
    )
  })
})
