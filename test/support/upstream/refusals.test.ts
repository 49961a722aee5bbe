import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startUpstream, type Upstream } from '../scripted-upstream.ts'
import type { Behaviour } from './behaviour.ts'
import {
  badKey,
  badRequest,
  contentFiltered,
  contextWindowExceeded,
  forbidden,
  modelNotFound,
  overloaded,
  quotaSpent,
  rateLimited,
  serverError,
  tooLarge,
  unprocessable,
} from './refusals.ts'

let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
})
afterAll(() => upstream.close())

async function refused(behaviour: Behaviour) {
  upstream.script('/refused', [behaviour])
  const response = await fetch(`${upstream.url}/refused/v1/chat/completions`, { method: 'POST', body: '{}' })
  return { response, error: ((await response.json()) as { error: Record<string, unknown> }).error }
}

describe('refusals as the vendor words them', () => {
  it.each([
    ['rateLimited', rateLimited, 429, 'rate_limit_exceeded'],
    ['quotaSpent', quotaSpent, 429, 'insufficient_quota'],
    ['serverError', serverError, 500, null],
    ['overloaded', overloaded, 503, 'service_unavailable'],
    ['badRequest', badRequest, 400, 'invalid_type'],
    ['badKey', badKey, 401, 'invalid_api_key'],
    ['forbidden', forbidden, 403, 'unsupported_country_region_territory'],
    ['modelNotFound', modelNotFound, 404, 'model_not_found'],
    ['tooLarge', tooLarge, 413, 'request_too_large'],
    ['unprocessable', unprocessable, 422, null],
    ['contextWindowExceeded', contextWindowExceeded, 400, 'context_length_exceeded'],
    ['contentFiltered', contentFiltered, 400, 'content_filter'],
  ] as const)('%s', async (_, refusal, status, code) => {
    const { response, error } = await refused(refusal())
    expect(response.status).toBe(status)
    expect(error).toMatchObject({ code, message: expect.any(String) })
    expect(response.headers.has('retry-after')).toBe(false)
  })

  it.each([
    [{ seconds: 7 }, 'retry-after', '7'],
    [{ date: new Date(Date.UTC(2026, 10, 21, 10, 0, 5)) }, 'retry-after', 'Sat, 21 Nov 2026 10:00:05 GMT'],
    [{ milliseconds: 350 }, 'retry-after-ms', '350'],
    [{ resetRequests: '6m0s' }, 'x-ratelimit-reset-requests', '6m0s'],
    [{ resetTokens: '20ms' }, 'x-ratelimit-reset-tokens', '20ms'],
  ])('429 tells when to come back: %j', async (comeBack, header, value) => {
    const { response } = await refused(rateLimited(comeBack))
    expect(response.headers.get(header)).toBe(value)
  })
})
