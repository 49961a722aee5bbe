import OpenAI, {
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from 'openai'
import { describe, expect, it } from 'vitest'
import {
  answer,
  badKey,
  badRequest,
  contentFiltered,
  contextWindowExceeded,
  cutAfter,
  errorEvent,
  rateLimited,
  serverError,
  slowBetween,
  stallAfter,
} from '../support/upstream/index.ts'
import { BASE_URL, HELLO, MASTER_KEY, raised, seenLeaving, upstream } from './conversation.ts'

const client = new OpenAI({ apiKey: MASTER_KEY, baseURL: BASE_URL, maxRetries: 0 })
const model = 'openai-errors'
const messages = [{ role: 'user' as const, content: HELLO }]
/** What fails before the gateway has passed on any content is answered with a status instead. */
const LATER = slowBetween({ ms: 50, only: 3 })
const chat = () => client.chat.completions.create({ model, messages })

describe('openai: errors', () => {
  it('a wrong key, and none', async () => {
    const wrong = new OpenAI({ apiKey: 'sk-wrong', baseURL: BASE_URL, maxRetries: 0 })
    const error = await raised(() => wrong.models.list())
    expect(error).toBeInstanceOf(AuthenticationError)
    expect(error).toMatchObject({ status: 401, code: 'invalid_api_key', type: 'authentication_error' })
    const without = await raised(() => client.models.list({ headers: { authorization: null } }))
    expect(without).toBeInstanceOf(AuthenticationError)
    expect(without).toMatchObject({ code: 'missing_api_key' })
  })

  it('an unknown model, asked and retrieved', async () => {
    for (const call of [
      () => client.chat.completions.create({ model: 'nope', messages }),
      () => client.models.retrieve('nope'),
    ]) {
      const error = await raised(call)
      expect(error).toBeInstanceOf(NotFoundError)
      expect(error).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' })
    }
  })

  it('a body that the gateway refuses', async () => {
    const error = await raised(() =>
      client.chat.completions.create({ model, messages: 'Hello' as unknown as typeof messages }),
    )
    expect(error).toBeInstanceOf(BadRequestError)
    expect(error).toMatchObject({ status: 400, type: 'invalid_request_error', param: 'messages' })
    expect(error.requestID).toBeTruthy()
  })

  it.each([
    ['a body that the provider refuses', badRequest(), BadRequestError, 400, null],
    ['a context window that is too small', contextWindowExceeded(), BadRequestError, 400, 'context_length_exceeded'],
    ['a content policy', contentFiltered(), BadRequestError, 400, 'content_policy_violation'],
    ["the operator's own wrong key", badKey(), InternalServerError, 502, 'upstream_refused'],
    ['a provider that is broken', serverError(), InternalServerError, 502, 'upstream_failed'],
  ])('%s', async (_, behaviour, kind, status, code) => {
    await upstream.script(model, [behaviour])
    for (const call of [chat, () => client.chat.completions.create({ model, messages, stream: true })]) {
      const error = await raised(call)
      expect(error).toBeInstanceOf(kind)
      expect(error).toMatchObject({ status, ...(code === null ? {} : { code }) })
    }
  })

  it('a rate limit, with when to come back', async () => {
    await upstream.script(model, [rateLimited({ seconds: 7 })])
    const error = await raised(chat)
    expect(error).toBeInstanceOf(RateLimitError)
    expect(error).toMatchObject({ status: 429, code: 'upstream_rate_limited', type: 'rate_limit_error' })
    expect((error.headers as Headers).get('retry-after')).toBe('7')
  })

  it('a rate limit after which the client comes back by itself, no sooner than it was told', async () => {
    await upstream.script(model, [rateLimited({ seconds: 1 }), answer({ text: 'Now.' })])
    const before = performance.now()
    const patient = client.withOptions({ maxRetries: 1 })
    const { choices } = await patient.chat.completions.create({ model, messages })
    expect(choices[0]?.message.content).toBe('Now.')
    expect(performance.now() - before).toBeGreaterThan(950)
  })

  it.each([
    ['an error event in the middle of a stream', answer({}, errorEvent(3), LATER), 'upstream_failed'],
    ['a stream that is cut', answer({}, cutAfter({ frames: 3 })), 'upstream_truncated'],
    ['a stream that ends without saying why', answer({}, cutAfter({ frames: 3, how: 'end' })), 'upstream_truncated'],
  ])('%s', async (_, behaviour, code) => {
    await upstream.script(model, [behaviour])
    let seen = ''
    const reading = await raised(async () => {
      for await (const chunk of await client.chat.completions.create({ model, messages, stream: true })) {
        seen += chunk.choices[0]?.delta.content ?? ''
      }
    })
    expect(seen).toBe('Hello, this')
    expect(reading).toBeInstanceOf(APIError)
    expect(reading).toMatchObject({ code, type: 'api_error' })
    const helping = await raised(() => client.chat.completions.stream({ model, messages }).finalChatCompletion())
    expect(helping).toMatchObject({ code })
  })

  it('a stream that fails before its first content', async () => {
    await upstream.script(model, [answer({}, errorEvent(0))])
    const error = await raised(() => client.chat.completions.create({ model, messages, stream: true }))
    expect(error).toBeInstanceOf(InternalServerError)
    expect(error).toMatchObject({ status: 502, code: 'upstream_failed' })
  })

  it('a stream that the client ends is ended at the provider', async () => {
    await upstream.script(model, [answer({}, stallAfter({ frames: 4 }))])
    const stream = await client.chat.completions.create({ model, messages, stream: true })
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break
    await seenLeaving(model)

    const controller = new AbortController()
    const calls = (await upstream.calls(model)).length
    const whole = client.chat.completions.create({ model, messages }, { signal: controller.signal })
    await upstream.until(model, (all) => all.length > calls)
    controller.abort()
    await expect(whole).rejects.toBeInstanceOf(APIUserAbortError)
    await seenLeaving(model)
  })
})
