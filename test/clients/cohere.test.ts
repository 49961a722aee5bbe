import { Cohere, CohereClient, CohereClientV2 } from 'cohere-ai'
import { describe, expect, it } from 'vitest'
import { badRequest, json, rateLimited, answer as reply, silence } from '../support/upstream/index.ts'
import { BASE_URL, MASTER_KEY, raised, seenLeaving, sent, upstream } from './conversation.ts'

/** This client puts the version into its paths by itself: its base address ends without one. */
const options = { baseUrl: new URL(BASE_URL).origin, token: MASTER_KEY, maxRetries: 0 }
const client = new CohereClientV2(options)
const model = 'cohere'
const asked = { model, query: 'capital', documents: ['Bern', 'Zürich', 'Genf'], topN: 2 }

describe('cohere-ai: rerank', () => {
  const ranking = {
    id: 'rank-1',
    results: [
      { index: 0, relevance_score: 0.97 },
      { index: 2, relevance_score: 0.12 },
    ],
    meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } },
  }

  it.each([
    ['version 2', () => client.rerank(asked)],
    ['version 1', () => new CohereClient(options).rerank(asked)],
  ])('sorts documents, in %s of the interface', async (_, rerank) => {
    await upstream.script(model, [json(200, ranking)])
    const answer = await rerank()
    expect(answer).toMatchObject({
      id: 'rank-1',
      results: [
        { index: 0, relevanceScore: 0.97 },
        { index: 2, relevanceScore: 0.12 },
      ],
      meta: { billedUnits: { searchUnits: 1 } },
    })
    expect(await sent(model)).toMatchObject({ model, query: 'capital', documents: asked.documents, top_n: 2 })
  })

  it('raises what the gateway refuses', async () => {
    const wrong = new CohereClientV2({ ...options, token: 'sk-wrong' })
    expect(await raised(() => wrong.rerank(asked))).toBeInstanceOf(Cohere.UnauthorizedError)
    expect(await raised(() => client.rerank({ ...asked, model: 'nope' }))).toBeInstanceOf(Cohere.NotFoundError)
    const empty = await raised(() => client.rerank({ ...asked, documents: [] }))
    expect(empty).toBeInstanceOf(Cohere.BadRequestError)
    expect(empty).toMatchObject({ statusCode: 400, body: { error: { param: 'documents' } } })
  })

  it('raises what the provider refuses', async () => {
    await upstream.script(model, [badRequest()])
    expect(await raised(() => client.rerank(asked))).toBeInstanceOf(Cohere.BadRequestError)
    await upstream.script(model, [rateLimited({ seconds: 7 })])
    const error = await raised(() => client.rerank(asked))
    expect(error).toBeInstanceOf(Cohere.TooManyRequestsError)
    const { headers } = error.rawResponse as { headers: Headers }
    expect(headers.get('retry-after')).toBe('7')
  })

  it('ends the call at the provider when it leaves', async () => {
    await upstream.script(model, [silence()])
    const controller = new AbortController()
    const calls = (await upstream.calls(model)).length
    const waiting = raised(() => client.rerank(asked, { abortSignal: controller.signal }))
    await upstream.until(model, (all) => all.length > calls)
    controller.abort()
    expect(String(await waiting)).toMatch(/abort/i)
    await seenLeaving(model)
  })
})

describe('cohere-ai: chat', () => {
  const messages = [{ role: 'user' as const, content: 'Where?' }]

  it('answers, whole and streamed, by any model', async () => {
    await upstream.script(model, [reply({ text: 'Here.' })])
    const whole = await client.chat({ model, messages, maxTokens: 20, p: 0.5 })
    expect(whole).toMatchObject({ finishReason: 'COMPLETE', message: { content: [{ type: 'text', text: 'Here.' }] } })
    expect(whole.usage?.billedUnits?.inputTokens).toBeGreaterThan(0)
    const types: string[] = []
    let text = ''
    for await (const event of await client.chatStream({ model, messages })) {
      types.push(event.type)
      if (event.type === 'content-delta') text += event.delta?.message?.content?.text ?? ''
      if (event.type === 'message-end') expect(event.delta?.finishReason).toBe('COMPLETE')
    }
    expect(text).toBe('Here.')
    expect([types[0], types[1], types.at(-2), types.at(-1)]).toEqual([
      ...['message-start', 'content-start', 'content-end', 'message-end'],
    ])
  })

  it('embeds', async () => {
    await upstream.script(model, [reply()])
    const asked = { model, texts: ['a', 'b'], inputType: 'search_query' as const, embeddingTypes: ['float' as const] }
    const embedded = await client.embed(asked)
    expect(embedded.embeddings.float).toHaveLength(2)
  })

  it('raises what the gateway refuses', async () => {
    const documents = await raised(() => client.chat({ model, messages, documents: ['x'] }))
    expect(documents).toBeInstanceOf(Cohere.BadRequestError)
    expect(documents).toMatchObject({ body: { message: expect.stringContaining('documents') } })
    expect(await raised(() => client.chat({ model: 'nope', messages }))).toBeInstanceOf(Cohere.NotFoundError)
  })
})
