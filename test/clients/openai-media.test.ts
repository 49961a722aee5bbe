import OpenAI, { BadRequestError, toFile } from 'openai'
import { describe, expect, it } from 'vitest'
import { answer, frames, json, raw } from '../support/upstream/index.ts'
import { BASE_URL, MASTER_KEY, raised, sent, upstream } from './conversation.ts'

const client = new OpenAI({ apiKey: MASTER_KEY, baseURL: BASE_URL, maxRetries: 0 })
const model = 'openai-media'

/** Control characters, and letters that the upstream writes as two bytes. */
const SOUND = Array.from({ length: 4096 }, (_, index) => String.fromCharCode(index % 256)).join('')
const RECORDING = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 31) % 256)

/** The form that the upstream got last. */
async function sentForm(): Promise<FormData> {
  const call = (await upstream.calls(model)).at(-1)
  const headers = { 'content-type': call?.headers['content-type'] ?? '' }
  return new Response(call?.body as BodyInit, { headers }).formData()
}

describe('openai: other kinds of models', () => {
  it('embeds, as floats and as base64', async () => {
    await upstream.script(model, [answer()])
    const input = ['one', 'two', 'Zürich']
    // Without a format the client asks for base64 and decodes it.
    const decoded = await client.embeddings.create({ model, input })
    expect(await sent(model)).toMatchObject({ input, encoding_format: 'base64' })
    const floats = await client.embeddings.create({ model, input, encoding_format: 'float' })
    expect(await sent(model)).toMatchObject({ encoding_format: 'float' })
    expect(floats.data.map(({ index, embedding }) => [index, embedding.length])).toEqual([
      [0, 8],
      [1, 8],
      [2, 8],
    ])
    expect(decoded.data).toEqual(floats.data)
    expect(floats.usage).toEqual({ prompt_tokens: 3, total_tokens: 3 })
    const text = await client.embeddings.create({ model, input, encoding_format: 'base64' })
    expect(typeof text.data[0]?.embedding).toBe('string')
    const short = await client.embeddings.create({ model, input: [1, 2, 3], dimensions: 4 })
    expect(short.data[0]?.embedding).toHaveLength(4)
  })

  it('draws, whole and streamed', async () => {
    const usage = { input_tokens: 5, output_tokens: 9, total_tokens: 14, input_tokens_details: { text_tokens: 5 } }
    await upstream.script(model, [json(200, { created: 1_760_000_000, data: [{ b64_json: 'iVBORw0K' }], usage })])
    const image = await client.images.generate({ model, prompt: 'A cat.', size: '1024x1024', quality: 'low' })
    expect(image).toMatchObject({ data: [{ b64_json: 'iVBORw0K' }], usage })
    expect(await sent(model)).toEqual({ model, prompt: 'A cat.', size: '1024x1024', quality: 'low' })

    const events = [
      { type: 'image_generation.partial_image', b64_json: 'iVBO', partial_image_index: 0 },
      { type: 'image_generation.completed', b64_json: 'iVBORw0K', usage },
    ]
    await upstream.script(model, [
      frames(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)),
    ])
    const seen: unknown[] = []
    const stream = await client.images.generate({ model, prompt: 'A cat.', stream: true, partial_images: 1 })
    for await (const event of stream) seen.push(event)
    expect(seen).toEqual(events)
  })

  it('speaks: the bytes are those of the provider', async () => {
    await upstream.script(model, [raw(200, SOUND, { 'content-type': 'audio/mpeg' })])
    const speech = await client.audio.speech.create({ model, voice: 'alloy', input: 'Hello', response_format: 'mp3' })
    expect(speech.headers.get('content-type')).toBe('audio/mpeg')
    expect(new Uint8Array(await speech.arrayBuffer())).toEqual(new TextEncoder().encode(SOUND))
  })

  it('transcribes an uploaded file, in each format', async () => {
    await upstream.script(model, [json(200, { text: 'Grüezi', usage: { type: 'duration', seconds: 3 } })])
    const file = await toFile(RECORDING, 'grüezi.wav', { type: 'audio/wav' })
    const heard = await client.audio.transcriptions.create({ model, file, language: 'de', temperature: 0.2 })
    expect(heard.text).toBe('Grüezi')
    const form = await sentForm()
    expect([form.get('model'), form.get('language'), form.get('temperature')]).toEqual([model, 'de', '0.2'])
    const received = form.get('file') as File
    expect([received.name, received.type]).toEqual(['grüezi.wav', 'audio/wav'])
    expect(new Uint8Array(await received.arrayBuffer())).toEqual(RECORDING)

    const verbose = { task: 'transcribe', language: 'german', duration: 3, text: 'Grüezi', segments: [], words: [] }
    await upstream.script(model, [json(200, verbose)])
    const spelled = await client.audio.transcriptions.create({
      model,
      file,
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    })
    expect(spelled).toEqual(verbose)
    expect((await sentForm()).getAll('timestamp_granularities[]')).toEqual(['word', 'segment'])

    await upstream.script(model, [raw(200, 'Grüezi\n', { 'content-type': 'text/plain; charset=utf-8' })])
    const plain: unknown = await client.audio.transcriptions.create({ model, file, response_format: 'text' })
    expect(plain).toBe('Grüezi\n')
  })

  it('transcribes as a stream', async () => {
    const events = [
      { type: 'transcript.text.delta', delta: 'Grü' },
      { type: 'transcript.text.done', text: 'Grüezi', usage: { type: 'tokens', input_tokens: 4, output_tokens: 2 } },
    ]
    await upstream.script(model, [frames(events.map((event) => `data: ${JSON.stringify(event)}\n\n`))])
    const file = await toFile(RECORDING, 'grüezi.wav')
    const seen: unknown[] = []
    for await (const event of await client.audio.transcriptions.create({ model, file, stream: true })) seen.push(event)
    expect(seen).toEqual(events)
  })

  it('edits images, whole and streamed, and varies one', async () => {
    const png = await toFile(RECORDING, 'a.png', { type: 'image/png' })
    await upstream.script(model, [json(200, { created: 1_760_000_000, data: [{ b64_json: 'iVBORw0K' }] })])
    const edited = await client.images.edit({ model, image: [png, png], prompt: 'A hat.', size: '1024x1024' })
    expect(edited.data?.[0]?.b64_json).toBe('iVBORw0K')
    const form = await sentForm()
    expect([form.getAll('image[]').length, form.get('prompt'), form.get('model')]).toEqual([2, 'A hat.', model])
    const varied = await client.images.createVariation({ model, image: png, n: 1 })
    expect(varied.data).toHaveLength(1)

    const events = [
      { type: 'image_edit.partial_image', b64_json: 'iVBO', partial_image_index: 0 },
      { type: 'image_edit.completed', b64_json: 'iVBORw0K' },
    ]
    await upstream.script(model, [
      frames(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)),
    ])
    const seen: unknown[] = []
    for await (const event of await client.images.edit({ model, image: png, prompt: 'A hat.', stream: true }))
      seen.push(event)
    expect(seen).toEqual(events)
  })

  it('translates a recording, and judges a text', async () => {
    await upstream.script(model, [json(200, { text: 'Hello' })])
    const file = await toFile(RECORDING, 'a.wav')
    expect((await client.audio.translations.create({ model, file })).text).toBe('Hello')
    const verdict = { id: 'modr-1', model, results: [{ flagged: true }] }
    await upstream.script(model, [json(200, verdict)])
    expect(await client.moderations.create({ model, input: ['one', 'two'] })).toEqual(verdict)
    const unnamed = await raised(() => client.moderations.create({ input: 'one' }))
    expect(unnamed).toMatchObject({ status: 404, code: 'model_not_found', message: /omni-moderation-latest/ })
  })

  it('raises what is wrong with each of them', async () => {
    const size = 'big' as '1024x1024'
    const image = await raised(() => client.images.generate({ model, prompt: 'A cat.', size }))
    expect(image).toBeInstanceOf(BadRequestError)
    expect(image).toMatchObject({ param: 'size' })
    const embedding = await raised(() => client.embeddings.create({ model, input: '' }))
    expect(embedding).toMatchObject({ status: 400, param: 'input' })
    const speech = await raised(() => client.audio.speech.create({ model: 'nope', voice: 'alloy', input: 'Hello' }))
    expect(speech).toMatchObject({ status: 404, code: 'model_not_found' })
    const echo = await raised(() => client.embeddings.create({ model: 'echo', input: 'Hello' }))
    expect(echo).toMatchObject({ status: 400, code: 'unsupported_mode' })
  })
})
