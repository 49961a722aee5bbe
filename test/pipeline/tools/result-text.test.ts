import { expect, it } from 'vitest'
import { readResult } from '../../../src/pipeline/tools/result-text.ts'
import { busyMs } from '../../support/busy-ms.ts'

it('costs no more than its length, whatever a server sends as base64', () => {
  const data = `${'='.repeat(200_000)}x`
  const content = ['image', 'audio'].map((type) => ({ type, mimeType: 'image/png', data }))
  expect(busyMs(() => readResult({ content, isError: false }, 1000))).toBeLessThan(500)
})

it('says how large a file is that it leaves out', () => {
  const content = ['AAAA', 'AAA=', 'AA=='].map((data) => ({ type: 'audio', mimeType: 'audio/wav', data }))
  const { text } = readResult({ content, isError: false }, 1000)
  expect(text.match(/\d bytes/g)).toEqual(['3 bytes', '2 bytes', '1 bytes'])
})
