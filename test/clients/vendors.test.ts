import { ElevenLabsClient } from '@elevenlabs/elevenlabs-js'
import { CohereClientV2 } from 'cohere-ai'
import OpenAI, { toFile } from 'openai'
import { describe, expect, inject, it } from 'vitest'
import { json, raw } from '../support/upstream/index.ts'
import { BASE_URL, HELLO, MASTER_KEY, PARAMETERS, upstream } from './conversation.ts'

const gateway = new OpenAI({ apiKey: MASTER_KEY, baseURL: BASE_URL, maxRetries: 0 })
const direct = `${inject('upstreamUrl')}/client`
const cohere = new CohereClientV2({ baseUrl: direct, token: 'sk-vendor', maxRetries: 0 })
const elevenlabs = new ElevenLabsClient({ baseUrl: direct, apiKey: 'sk-vendor', maxRetries: 0 })

/** What the vendor was asked last below a prefix: where, with which key, and in which words. */
async function asked(prefix: '/client' | '/gateway') {
  const call = (await upstream.calls(prefix)).at(-1)
  if (!call) throw new Error(`nothing was asked below ${prefix}`)
  const { authorization, 'xi-api-key': key, 'content-type': contentType = '' } = call.headers
  const { pathname, searchParams } = new URL(call.path.slice(prefix.length), 'http://vendor')
  const response = new Response(call.body as BodyInit, { headers: { 'content-type': contentType } })
  const body = contentType.startsWith('multipart/') ? await formOf(response) : await response.json()
  return { method: call.method, pathname, query: Object.fromEntries(searchParams), authorization, key, body }
}

async function formOf(response: Response): Promise<object> {
  const entries = [...(await response.formData())].map(async ([name, value]) => [
    name,
    typeof value === 'string' ? value : { name: value.name, bytes: [...new Uint8Array(await value.arrayBuffer())] },
  ])
  return Object.fromEntries(await Promise.all(entries))
}

async function answersWith(behaviour: Parameters<typeof upstream.script>[1][number]): Promise<void> {
  await upstream.script('/client', [behaviour])
  await upstream.script('/gateway', [behaviour])
}

describe("the gateway asks a vendor as the vendor's own client does", () => {
  it('ElevenLabs for speech', async () => {
    await answersWith(raw(200, 'ID3-sound', { 'content-type': 'audio/mpeg' }))
    const sound = await elevenlabs.textToSpeech.convert('JBFqnCBsd6RMkjVDRZzb', {
      text: HELLO,
      modelId: 'eleven_multilingual_v2',
      languageCode: 'de',
      outputFormat: 'mp3_44100_128',
      voiceSettings: { speed: 1.1 },
      seed: 7,
    })
    expect(await new Response(sound).text()).toBe('ID3-sound')
    const speech = await gateway.audio.speech.create({
      model: 'elevenlabs/eleven_multilingual_v2',
      voice: 'JBFqnCBsd6RMkjVDRZzb',
      input: HELLO,
      speed: 1.1,
      ...{ language: 'de', seed: 7 },
    })
    expect(await speech.text()).toBe('ID3-sound')
    expect(await asked('/gateway')).toEqual(await asked('/client'))
  })

  it('ElevenLabs for a transcription', async () => {
    await answersWith(json(200, { language_code: 'deu', language_probability: 1, text: 'Grüezi', words: [] }))
    const recording = new Uint8Array([1, 13, 10, 45, 45, 255, 0])
    const heard = await elevenlabs.speechToText.convert({
      modelId: 'scribe_v1',
      file: new File([recording], 'a.wav', { type: 'audio/wav' }),
      languageCode: 'de',
      temperature: 0.2,
      numSpeakers: 2,
    })
    expect(heard).toMatchObject({ text: 'Grüezi' })
    const transcription = await gateway.audio.transcriptions.create({
      model: 'elevenlabs/scribe_v1',
      file: await toFile(recording, 'a.wav', { type: 'audio/wav' }),
      language: 'de',
      temperature: 0.2,
      ...{ num_speakers: 2 },
    })
    expect(transcription.text).toBe('Grüezi')
    expect(await asked('/gateway')).toEqual(await asked('/client'))
  })

  it('Cohere for chat with tools', async () => {
    const content = [{ type: 'text', text: 'Hi.' }]
    const usage = { billed_units: { input_tokens: 4, output_tokens: 1 }, tokens: { input_tokens: 4, output_tokens: 1 } }
    await answersWith(
      json(200, { id: 'chat-1', finish_reason: 'COMPLETE', message: { role: 'assistant', content }, usage }),
    )
    const tool = {
      type: 'function' as const,
      function: { name: 'weather', description: 'It.', parameters: PARAMETERS },
    }
    const messages = [
      { role: 'system' as const, content: 'Be brief.' },
      { role: 'user' as const, content: HELLO },
    ]
    const own = await cohere.chat({
      model: 'command-a',
      messages,
      tools: [tool],
      toolChoice: 'REQUIRED',
      maxTokens: 50,
      temperature: 0.5,
      p: 0.9,
      stopSequences: ['END'],
      frequencyPenalty: 0.1,
      seed: 7,
    })
    expect(own.message.content).toMatchObject(content)
    const completion = await gateway.chat.completions.create({
      model: 'cohere/command-a',
      messages,
      tools: [tool],
      tool_choice: 'required',
      max_tokens: 50,
      temperature: 0.5,
      top_p: 0.9,
      stop: ['END'],
      frequency_penalty: 0.1,
      seed: 7,
    })
    expect(completion.choices[0]?.message.content).toBe('Hi.')
    expect(await asked('/gateway')).toEqual(await asked('/client'))
  })

  it('Cohere for embeddings', async () => {
    await answersWith(
      json(200, { id: 'embed-1', embeddings: { float: [[0.5, 1]] }, texts: ['one'], meta: { billed_units: {} } }),
    )
    const own = await cohere.embed({
      model: 'embed-v4',
      texts: ['one'],
      inputType: 'search_document',
      embeddingTypes: ['float'],
      outputDimension: 256,
    })
    expect(own.embeddings.float).toEqual([[0.5, 1]])
    const list = await gateway.embeddings.create({
      model: 'cohere/embed-v4',
      input: ['one'],
      encoding_format: 'float',
      dimensions: 256,
    })
    expect(list.data[0]?.embedding).toEqual([0.5, 1])
    expect(await asked('/gateway')).toEqual(await asked('/client'))
  })
})
