import { expect, it } from 'vitest'
import type { ChatChunk, ChatCompletion } from '../../../src/modes/chat-completion.ts'
import { identified, identifying } from '../../../src/pipeline/translate/identified.ts'

const OWN = /^chatcmpl-[0-9a-z]{24}$/

it('an answer without an id or a time gets its own, all chunks of a stream the same', () => {
  const bare = { id: '', created: 0 }
  const [one, other] = [bare, bare].map((given) => identified(given as ChatCompletion))
  expect(one).toEqual({ id: expect.stringMatching(OWN), created: expect.any(Number) })
  expect(one?.created).toBeGreaterThan(0)
  expect(other?.id).not.toBe(one?.id)
  const chunks = [bare, bare].map((given) => given as ChatChunk).map(identifying())
  expect(chunks[0]).toEqual({ id: expect.stringMatching(OWN), created: expect.any(Number) })
  expect(chunks[1]).toEqual(chunks[0])
  const own = { id: 'c1', created: 7 }
  expect([own, own].map((given) => given as ChatChunk).map(identifying())).toEqual([own, own])
  const about = [bare, own, bare].map((given) => given as ChatChunk).map(identifying())
  expect(about.map(({ id }) => id)).toEqual([expect.stringMatching(OWN), 'c1', 'c1'])
})
