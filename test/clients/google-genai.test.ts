import {
  ApiError,
  type CallableTool,
  FunctionCallingConfigMode,
  type GenerateContentConfig,
  type GenerateContentResponse,
  GoogleGenAI,
} from '@google/genai'
import { describe, expect, it } from 'vitest'
import { block, delta, end, input, last, start, stop, tool, words } from '../fixtures/anthropic/events.ts'
import { answer, frames, json, rateLimited, silence } from '../support/upstream/index.ts'
import {
  BASE_URL,
  HELLO,
  MASTER_KEY,
  PARAMETERS,
  raised,
  seenLeaving,
  TOOL_CALLS,
  TOOL_INPUTS,
  upstream,
} from './conversation.ts'

/** This client puts the version into its paths by itself: its base address ends without one. */
const options = { httpOptions: { baseUrl: new URL(BASE_URL).origin } }
const client = new GoogleGenAI({ ...options, apiKey: MASTER_KEY })

type Behaviour = Parameters<typeof upstream.script>[1][number]

/** One answer in the words of a vendor, whole and streamed. */
interface Vendor {
  readonly model: string
  /** Where the upstream is asked for this model. */
  readonly key: string
  readonly says: (streamed: boolean) => Behaviour
  readonly calls: (streamed: boolean) => Behaviour
  /** The results of the calls, as the vendor is given them. */
  readonly results: (body: Record<string, unknown>) => unknown
}

const functionCalls = TOOL_CALLS.map(({ id, name }, index) => ({ id, name, args: TOOL_INPUTS[index] }))
const usageMetadata = { promptTokenCount: 4, candidatesTokenCount: 4, totalTokenCount: 8 }
const candidate = (parts: readonly object[], more: object = { finishReason: 'STOP' }) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
  modelVersion: 'gemini-3-flash',
  responseId: 'r-1',
  ...(Object.keys(more).length > 0 ? { usageMetadata } : {}),
})
const message = (content: readonly object[], stop_reason: string) =>
  json(200, {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-haiku-4-5',
    content,
    stop_reason,
    stop_sequence: null,
    usage: { input_tokens: 4, output_tokens: 4 },
  })
const events = (pieces: readonly object[]) => frames(pieces.map((piece) => `data: ${JSON.stringify(piece)}\r\n\r\n`))
const thought = { type: 'thinking', thinking: 'Which city?', signature: 'c2ln' }
const counted = { input_tokens: 4, output_tokens: 1 }
const split = /\s*\S+/g

const VENDORS: readonly (readonly [string, Vendor])[] = [
  [
    'a provider of chat',
    {
      model: 'google-genai',
      key: 'google-genai',
      says: () => answer({ text: HELLO }),
      calls: () => answer({ toolCalls: TOOL_CALLS }),
      results: ({ messages }) =>
        (messages as Record<string, unknown>[])
          .filter(({ role }) => role === 'tool')
          .map(({ tool_call_id, content }) => [tool_call_id, content]),
    },
  ],
  [
    'Anthropic',
    {
      model: 'anthropic/claude-haiku-4-5',
      key: '/google-genai/v1/messages',
      says: (streamed) =>
        streamed
          ? frames([
              start(counted),
              words(0, ...(HELLO.match(split) ?? [])),
              end('end_turn', { output_tokens: 4 }),
              last,
            ])
          : message([{ type: 'text', text: HELLO }], 'end_turn'),
      calls: (streamed) =>
        streamed
          ? frames([
              start(counted),
              block(0, { type: 'thinking', thinking: '', signature: '' }),
              delta(0, { type: 'thinking_delta', thinking: thought.thinking }),
              delta(0, { type: 'signature_delta', signature: thought.signature }),
              stop(0),
              ...TOOL_CALLS.flatMap(({ id, name, arguments: text }, index) => [
                tool(index + 1, id, name),
                input(index + 1, text),
                stop(index + 1),
              ]),
              end('tool_use', { output_tokens: 4 }),
              last,
            ])
          : message(
              [thought, ...functionCalls.map(({ args, ...call }) => ({ type: 'tool_use', ...call, input: args }))],
              'tool_use',
            ),
      results: ({ messages }) => {
        const [, asked, answered] = messages as { content: Record<string, unknown>[] }[]
        expect(asked?.content[0]).toEqual(thought)
        return answered?.content
          .filter(({ type }) => type === 'tool_result')
          .map(({ tool_use_id, content }) => [tool_use_id, content])
      },
    },
  ],
  [
    'Gemini itself',
    {
      model: 'gemini/gemini-3-flash',
      key: '/google-genai/v1beta',
      says: (streamed) =>
        streamed
          ? events([...(HELLO.match(split) ?? []).map((text) => candidate([{ text }], {})), candidate([{ text: '' }])])
          : json(200, candidate([{ text: HELLO }])),
      calls: (streamed) => {
        const made = candidate(
          functionCalls.map((call, index) => ({
            functionCall: call,
            ...(index === 0 ? { thoughtSignature: 'AbC=' } : {}),
          })),
        )
        return streamed ? events([made]) : json(200, made)
      },
      results: ({ contents }) => {
        const [, asked, answered] = contents as { parts: Record<string, Record<string, unknown>>[] }[]
        expect(asked?.parts[0]?.thoughtSignature).toBe('AbC=')
        return answered?.parts
          .map(({ functionResponse }) => functionResponse)
          .map((given) => [given?.id, (given?.response as { output?: string } | undefined)?.output])
      },
    },
  ],
]

const config: GenerateContentConfig = {
  systemInstruction: 'Be brief.',
  maxOutputTokens: 100,
  thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 },
  tools: [
    {
      functionDeclarations: TOOL_CALLS.map(({ name }) => ({
        name,
        description: 'Tells it.',
        parametersJsonSchema: PARAMETERS,
      })),
    },
  ],
}
const results = functionCalls.map(({ id, name }) => ({
  functionResponse: { id, name, response: { output: `of ${id}` } },
}))
const RESULTS = functionCalls.map(({ id }) => [id, `of ${id}`])

async function askedOf(key: string): Promise<Record<string, unknown>> {
  const call = (await upstream.calls(key)).at(-1)
  return JSON.parse(new TextDecoder().decode(call?.body)) as Record<string, unknown>
}

describe.each(VENDORS)('@google/genai at %s', (_, { model, key, says, calls, results: given }) => {
  it('gets an answer and its usage', async () => {
    await upstream.script(key, [says(false)])
    const response = await client.models.generateContent({ model, contents: HELLO, config: { maxOutputTokens: 100 } })
    expect(response.text).toBe(HELLO)
    expect(response.candidates?.[0]?.finishReason).toBe('STOP')
    expect(response.usageMetadata).toEqual(usageMetadata)
    expect(response.responseId).toBeTruthy()
  })

  it('streams, the end and the usage with the last piece', async () => {
    await upstream.script(key, [says(true)])
    const texts: string[] = []
    const ends: unknown[] = []
    let usage: unknown
    for await (const piece of await client.models.generateContentStream({ model, contents: HELLO })) {
      texts.push(piece.text ?? '')
      ends.push(piece.candidates?.[0]?.finishReason)
      usage = piece.usageMetadata
    }
    expect(texts.join('')).toBe(HELLO)
    expect(texts.length).toBeGreaterThan(3)
    expect(ends.filter(Boolean)).toEqual(['STOP'])
    expect(ends.at(-1)).toBe('STOP')
    expect(usage).toMatchObject(usageMetadata)
  })

  it.each([false, true])('calls functions in a chat and gives their results; streamed: %s', async (streamed) => {
    await upstream.script(key, [calls(streamed), says(streamed)])
    const chat = client.chats.create({ model, config })
    const say = async (parts: string | typeof results) => {
      if (!streamed) return [await chat.sendMessage({ message: parts })]
      const pieces: GenerateContentResponse[] = []
      for await (const piece of await chat.sendMessageStream({ message: parts })) pieces.push(piece)
      return pieces
    }
    const asked = await say('How warm is it, and how late?')
    expect(asked.flatMap((piece) => piece.functionCalls ?? [])).toEqual(functionCalls)
    const said = await say(results)
    expect(said.map((piece) => piece.text ?? '').join('')).toBe(HELLO)
    expect(given(await askedOf(key))).toEqual(RESULTS)
    expect(chat.getHistory().map(({ role }) => role)).toEqual(expect.arrayContaining(['user', 'model']))
  })

  it('runs functions by itself until the model has its answer', async () => {
    await upstream.script(key, [calls(false), says(false)])
    const own: CallableTool = {
      tool: async () => ({
        functionDeclarations:
          config.tools?.flatMap((one) => ('functionDeclarations' in one ? (one.functionDeclarations ?? []) : [])) ?? [],
      }),
      callTool: async (made) =>
        made.map(({ id, name }) => ({
          functionResponse: { id: id ?? '', name: name ?? '', response: { output: `of ${id}` } },
        })),
    }
    const functionCallingConfig = { mode: FunctionCallingConfigMode.ANY }
    const response = await client.models.generateContent({
      model,
      contents: HELLO,
      config: { ...config, tools: [own], toolConfig: { functionCallingConfig } },
    })
    expect(response.text).toBe(HELLO)
    expect(given(await askedOf(key))).toEqual(RESULTS)
  })

  it('counts tokens', async () => {
    await upstream.script(key, [json(200, { totalTokens: 31, input_tokens: 31 })])
    const { totalTokens } = await client.models.countTokens({ model, contents: HELLO })
    expect(totalTokens).toBeGreaterThan(3)
  })

  it('raises what the provider refuses, and ends the call when it leaves', async () => {
    await upstream.script(key, [rateLimited({ seconds: 7 })])
    const error = await raised(() => client.models.generateContent({ model, contents: HELLO }))
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ status: 429, message: expect.stringContaining('RESOURCE_EXHAUSTED') })
    await upstream.script(key, [silence()])
    const before = (await upstream.calls(key)).length
    const controller = new AbortController()
    const waiting = raised(() =>
      client.models.generateContent({ model, contents: HELLO, config: { abortSignal: controller.signal } }),
    )
    await upstream.until(key, (all) => all.length > before)
    controller.abort()
    expect(String(await waiting)).toMatch(/abort/i)
    await seenLeaving(key)
  })
})

describe('@google/genai', () => {
  const model = 'google-genai'

  it.each([
    ['a provider of embeddings', model, () => answer()],
    [
      'Gemini itself',
      'gemini/gemini-embedding-001',
      () => json(200, { embeddings: [{ values: [0.5, -1] }, { values: [0.25, 1] }] }),
    ],
  ])('embeds texts at %s', async (_, name, behaviour) => {
    const key = name === model ? name : '/google-genai/v1beta'
    await upstream.script(key, [behaviour()])
    const { embeddings } = await client.models.embedContent({ model: name, contents: ['a', 'b'] })
    expect(embeddings?.map(({ values }) => values?.every(Number.isFinite))).toEqual([true, true])
    expect(embeddings?.[0]).not.toEqual(embeddings?.[1])
  })

  it('shows pictures and asks for a document', async () => {
    await upstream.script(model, [answer({ text: '{"n":1}' })])
    const response = await client.models.generateContent({
      model,
      contents: [{ text: 'How many?' }, { inlineData: { mimeType: 'image/png', data: 'iVBORw==' } }],
      config: { responseMimeType: 'application/json', responseJsonSchema: PARAMETERS },
    })
    expect(response.text).toBe('{"n":1}')
    expect(await askedOf(model)).toMatchObject({
      messages: [{ content: [{ text: 'How many?' }, { image_url: { url: 'data:image/png;base64,iVBORw==' } }] }],
      response_format: { type: 'json_schema', json_schema: { schema: PARAMETERS } },
    })
  })

  it('lists the models', async () => {
    const names: string[] = []
    for await (const one of await client.models.list({ config: { pageSize: 5 } })) names.push(one.name ?? '')
    expect(names).toContain(`models/${model}`)
    expect(names).toContain('models/gemini/gemini-3-flash')
    expect(new Set(names).size).toBe(names.length)
    expect(await client.models.get({ model })).toMatchObject({ name: `models/${model}` })
  })

  it('raises what the gateway refuses, of a stream too', async () => {
    const wrong = new GoogleGenAI({ ...options, apiKey: 'sk-wrong' })
    expect(await raised(() => wrong.models.generateContent({ model, contents: HELLO }))).toMatchObject({ status: 401 })
    const unknown = { model: 'nope', contents: HELLO }
    expect(await raised(() => client.models.generateContent(unknown))).toMatchObject({ name: 'ApiError', status: 404 })
    expect(await raised(() => client.models.generateContentStream(unknown))).toMatchObject({ status: 404 })
    const search = { model, contents: HELLO, config: { tools: [{ googleSearch: {} }] } }
    expect(await raised(() => client.models.generateContent(search))).toMatchObject({
      status: 400,
      message: expect.stringContaining('googleSearch'),
    })
  })
})
