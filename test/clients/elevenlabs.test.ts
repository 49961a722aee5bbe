import { ElevenLabsClient, ElevenLabsError } from '@elevenlabs/elevenlabs-js'
import { describe, expect, it } from 'vitest'
import { json, raw } from '../support/upstream/index.ts'
import { BASE_URL, MASTER_KEY, raised, sent, upstream } from './conversation.ts'

const options = { baseUrl: new URL(BASE_URL).origin, maxRetries: 0 }
const client = new ElevenLabsClient({ ...options, apiKey: MASTER_KEY })
const model = 'elevenlabs'
const voice = 'JBFqnCBsd6RMkjVDRZzb'

const textOf = async (stream: ReadableStream<Uint8Array>) => new Response(stream).text()

describe('@elevenlabs/elevenlabs-js', () => {
  it.each(['convert', 'stream'] as const)('%ss a text to speech', async (method) => {
    await upstream.script(model, [raw(200, 'sound', { 'content-type': 'audio/mpeg' })])
    const request = {
      modelId: model,
      text: 'Hello',
      outputFormat: 'mp3_44100_128',
      voiceSettings: { speed: 1.2 },
    } as const
    expect(await textOf(await client.textToSpeech[method](voice, request))).toBe('sound')
    expect(await sent(model)).toEqual({ model, input: 'Hello', voice, response_format: 'mp3', speed: 1.2 })
  })

  it('turns a recording into text', async () => {
    const words = [{ word: 'Hello', start: 0, end: 1 }]
    await upstream.script(model, [json(200, { text: 'Hello', language: 'english', duration: 1, words })])
    const heard = await client.speechToText.convert({
      modelId: model,
      file: new Blob(['sound']),
      languageCode: 'en',
      tagAudioEvents: false,
    })
    expect(heard).toMatchObject({ text: 'Hello', languageCode: 'english', words: [{ text: 'Hello', type: 'word' }] })
  })

  it('raises what is wrong', async () => {
    const wrong = new ElevenLabsClient({ ...options, apiKey: 'sk-wrong' })
    const refused = await raised(() => wrong.textToSpeech.convert(voice, { text: 'Hello', modelId: model }))
    expect(refused).toBeInstanceOf(ElevenLabsError)
    expect(refused).toMatchObject({ statusCode: 401, body: { detail: { status: 'invalid_api_key' } } })
    const unknown = await raised(() => client.textToSpeech.convert(voice, { text: 'Hello' }))
    expect(unknown).toMatchObject({ statusCode: 404, body: { detail: { code: 'model_not_found' } } })
  })
})
