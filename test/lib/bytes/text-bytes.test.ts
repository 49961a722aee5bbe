import { expect, it } from 'vitest'
import { textBytes } from '../../../src/lib/bytes/text-bytes.ts'

const encoder = new TextEncoder()
const body = (...parts: string[]) => encoder.encode(JSON.stringify({ messages: parts.map((content) => ({ content })) }))
const image = `data:image/png;base64,${btoa('\x89PNG\r\n\x1a\nsome pixels').repeat(100_000)}`
const words = 'What is in this picture? '.repeat(8000)

it('takes an image in base64 for a small part of its letters', () => {
  const bytes = body('What is this?', image)
  expect(bytes.byteLength).toBeGreaterThan(2_000_000)
  expect(textBytes(bytes)).toBeLessThan(bytes.byteLength / 20)
  expect(textBytes(bytes)).toBeGreaterThan(bytes.byteLength / 40)
})

it.each([
  ['words', words],
  ['words in escapes', '\n"'.repeat(100_000)],
  ['other scripts', '什么东西在这张图片里'.repeat(20_000)],
])('takes %s for what they are', (_name, text) => {
  const bytes = body(text)
  expect(textBytes(bytes)).toBe(bytes.byteLength)
})

it('tells words from the image beside them', () => {
  const [alone, both] = [body(words), body(words, image)]
  expect(textBytes(both) - textBytes(alone)).toBeLessThan(image.length / 20)
  expect(textBytes(both)).toBeGreaterThan(alone.byteLength)
})
