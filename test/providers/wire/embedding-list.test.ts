import { expect, it } from 'vitest'
import { embeddingList } from '../../../src/providers/wire/embedding-list.ts'

const listed = (vectors: readonly unknown[], input: string | string[]) => () =>
  embeddingList(vectors, { model: 'm', input }, undefined)

it('embeddings are one for each text, or no answer', () => {
  expect(listed([[1], [2]], ['a', 'b'])).not.toThrow()
  expect(listed(['AACAPw=='], 'a')).not.toThrow()
  const malformed = expect.objectContaining({ failure: 'upstream_malformed' })
  // Vendors leave out texts that they make nothing of: a client can bring that about.
  const unusable = expect.objectContaining({ failure: 'unusable_answer' })
  expect(listed([[1]], ['a', 'b'])).toThrow(unusable)
  expect(listed([[1], [2]], 'a')).toThrow(unusable)
  expect(listed([[1], undefined], ['a', 'b'])).toThrow(malformed)
})
