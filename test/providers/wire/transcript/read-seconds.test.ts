import { expect, it } from 'vitest'
import type { TranscriptionRequest } from '../../../../src/modes/audio-transcription.ts'
import { openaiTranscription } from '../../../../src/providers/openai/transcription.ts'
import { readSeconds } from '../../../../src/providers/wire/transcript/read-seconds.ts'

const call = { body: { model: 'm', response_format: 'verbose_json' } } as unknown as { body: TranscriptionRequest }
const secondsOf = (answer: object) => {
  const bytes = new TextEncoder().encode(JSON.stringify({ text: 'Hi', ...answer }))
  const reply = openaiTranscription.reply(bytes, {}, call as never)
  return reply.usage?.audioSeconds
}

it.each([
  [{ usage: { type: 'duration', seconds: 9 }, duration: 8.47 }, 9],
  [{ duration: 8.47 }, 8.47],
  [{ duration: 0.6 }, 0.6],
  [{ duration: 0 }, undefined],
  [{ duration: 1e308 }, undefined],
  [{ duration: '8.47' }, 8.47],
  [{ duration: 'long' }, undefined],
  [{ duration: '' }, undefined],
])('%j is billed as it is, to a part of a second', (answer, seconds) => {
  expect(secondsOf(answer)).toBe(seconds)
})

it('a time that nobody can have is none', () => {
  expect(readSeconds(1e308)).toBeUndefined()
})
