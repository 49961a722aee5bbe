import { describe, expect, it } from 'vitest'
import type { SpeechRequest } from '../../../src/modes/audio-speech.ts'
import { generateSpeech } from '../../../src/providers/gemini/media/generate-speech.ts'
import { asWav, samplesIn } from '../../../src/providers/wire/wav.ts'

const samples = Uint8Array.of(1, 0, 254, 255, 3, 0)
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const usageMetadata = {
  promptTokenCount: 4,
  candidatesTokenCount: 50,
  candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 50 }],
}

function heard(format: string | undefined, parts: readonly object[], finishReason = 'STOP') {
  const body: SpeechRequest = { model: 'm', input: 'Hello', ...(format ? { response_format: format } : {}) }
  const answer = JSON.stringify({ candidates: [{ content: { parts }, finishReason }], usageMetadata })
  const bytes = new TextEncoder().encode(answer)
  const reply = generateSpeech.reply(bytes, {}, { body, bytes, streamed: false })
  return { ...reply, bytes: Uint8Array.from(reply.bytes ?? []) }
}

describe('speech of Gemini', () => {
  const bare = { inlineData: { mimeType: 'audio/L16;codec=pcm;rate=22050', data: base64(samples) } }
  const filed = { inlineData: { mimeType: 'audio/wav', data: base64(asWav(samples, 22_050)) } }

  it.each([
    ['samples', bare],
    ['a file', filed],
  ])('is a WAV file or samples, as the client asks for it, where the vendor answers %s', (_, part) => {
    const usage = { inputTokens: 4, outputTokens: 50, audioOutputTokens: 50 }
    expect(heard(undefined, [part])).toMatchObject({ contentType: 'audio/wav', usage, bytes: asWav(samples, 22_050) })
    expect(heard('wav', [part]).bytes).toEqual(asWav(samples, 22_050))
    expect(heard('pcm', [part])).toMatchObject({ contentType: 'audio/pcm;rate=22050', bytes: samples })
  })

  it('is one sound, where it comes in parts', () => {
    expect(heard('pcm', [bare, { text: '' }, bare]).bytes).toEqual(Uint8Array.of(...samples, ...samples))
  })

  it('is a failure without a sound', () => {
    expect(() => heard('pcm', [], 'SAFETY')).toThrow(expect.objectContaining({ failure: 'content_policy' }))
    expect(() => heard('pcm', [{ text: 'No.' }])).toThrow(expect.objectContaining({ failure: 'unusable_answer' }))
    const other = { inlineData: { mimeType: 'audio/mpeg', data: base64(samples) } }
    expect(() => heard('pcm', [other])).toThrow(expect.objectContaining({ failure: 'upstream_malformed' }))
  })
})

describe('a WAV file', () => {
  it('is read again, cut anywhere, with other parts before its samples', () => {
    const file = asWav(samples, 24_000)
    expect(samplesIn(file)).toEqual({ samples, rate: 24_000 })
    const note = Uint8Array.of(...Buffer.from('LIST'), 3, 0, 0, 0, 1, 2, 3, 0)
    const noted = Uint8Array.of(...file.subarray(0, 36), ...note, ...file.subarray(36))
    expect(samplesIn(noted)).toEqual({ samples, rate: 24_000 })
    for (let end = 0; end < 44; end++) expect(samplesIn(file.subarray(0, end))).toBeUndefined()
    expect(samplesIn(file.subarray(0, 47))?.samples).toEqual(samples.subarray(0, 3))
  })

  it('that was written as it was made ends with its bytes', () => {
    const file = asWav(samples, 24_000)
    new DataView(file.buffer).setUint32(40, 0xffff_ffff, true)
    expect(samplesIn(file)).toEqual({ samples, rate: 24_000 })
  })
})
