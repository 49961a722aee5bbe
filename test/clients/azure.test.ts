import OpenAI, { AuthenticationError, AzureOpenAI, NotFoundError, toFile } from 'openai'
import { describe, expect, it } from 'vitest'
import { answer, json, raw } from '../support/upstream/index.ts'
import { BASE_URL, MASTER_KEY, raised, sent, upstream } from './conversation.ts'

const endpoint = new URL(BASE_URL).origin
const options = { endpoint, apiKey: MASTER_KEY, apiVersion: '2024-10-21', maxRetries: 0 }
const model = 'azure'
const client = new AzureOpenAI(options)
const messages = [{ role: 'user', content: 'Hello' }] as const

describe("openai: Azure's client, which names the model in the path and its key in api-key", () => {
  it('chats, whole and streamed, and lists what it may call', async () => {
    await upstream.script(model, [answer()])
    const whole = await client.chat.completions.create({ model, messages: [...messages] })
    expect(whole.choices[0]?.finish_reason).toBe('stop')
    const stream = await client.chat.completions.create({ model, messages: [...messages], stream: true })
    let text = ''
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
    expect(text).toBe(whole.choices[0]?.message.content)
    const listed = await client.models.list()
    expect(listed.data.map(({ id }) => id)).toContain(model)
  })

  it('calls the deployment that it was made for, whatever model a call names', async () => {
    await upstream.script(model, [answer()])
    const bound = new AzureOpenAI({ ...options, deployment: model, apiVersion: 'any' })
    await bound.chat.completions.create({ model: 'gpt-x', messages: [...messages] })
    expect(await sent(model)).toMatchObject({ model, messages })
    const embedded = await bound.embeddings.create({ model: '', input: 'Hello' })
    expect(embedded.data).toHaveLength(1)
  })

  it('draws, speaks and listens', async () => {
    await upstream.script(model, [json(200, { created: 1, data: [{ b64_json: 'AA' }] })])
    expect((await client.images.generate({ model, prompt: 'A cat.' })).data).toHaveLength(1)
    const image = await toFile(new Uint8Array(9), 'a.png', { type: 'image/png' })
    expect((await client.images.edit({ model, image, prompt: 'A hat.' })).data).toHaveLength(1)
    await upstream.script(model, [raw(200, 'sound', { 'content-type': 'audio/mpeg' })])
    expect(await (await client.audio.speech.create({ model, voice: 'alloy', input: 'Hello' })).text()).toBe('sound')
    await upstream.script(model, [json(200, { text: 'Hello' })])
    const file = await toFile(new Uint8Array(9), 'a.wav')
    expect((await client.audio.transcriptions.create({ model, file })).text).toBe('Hello')
    expect((await client.audio.translations.create({ model, file })).text).toBe('Hello')
  })

  it("responds, in the API without dates, with OpenAI's client too", async () => {
    await upstream.script(model, [answer()])
    expect((await client.responses.create({ model, input: 'Hello' })).status).toBe('completed')
    const plain = new OpenAI({ baseURL: `${endpoint}/openai/v1/`, apiKey: MASTER_KEY, maxRetries: 0 })
    expect((await plain.chat.completions.create({ model, messages: [...messages] })).object).toBe('chat.completion')
  })

  it('raises what is wrong', async () => {
    const wrong = new AzureOpenAI({ ...options, apiKey: 'sk-wrong' })
    const ask = (by: AzureOpenAI, name: string) =>
      raised(() => by.chat.completions.create({ model: name, messages: [...messages] }))
    expect(await ask(wrong, model)).toBeInstanceOf(AuthenticationError)
    const unknown = await ask(client, 'vendor/nope')
    expect(unknown).toBeInstanceOf(NotFoundError)
    expect(unknown).toMatchObject({ code: 'model_not_found' })
  })
})
