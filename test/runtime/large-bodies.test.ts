import { describe, expect, inject, it } from 'vitest'
import { chatInit, configOf } from '../support/gateway.ts'
import { json } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const vectors = `vectors-${crypto.randomUUID()}`
const gateway = withGateway(() => configOf(upstream.url, { [vectors]: [vectors] }))

const many = (count: number, write: (index: number) => string) =>
  Array.from({ length: count }, (_, at) => write(at)).join()
const CALL = '"model":"nobody","messages":[{"role":"user","content":"Hi"}]'

describe('a body of more members than anybody means', () => {
  it.each([
    ['800,000 members', `{${CALL},${many(800_000, (at) => `"k${at}":1`)}}`, 'too_many_members'],
    ['500,000 lists', `{${CALL},"x":[${many(500_000, () => '[]')}]}`, 'too_many_members'],
    ['100,000 levels', `{${CALL},"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'nested_too_deeply'],
    ['no object around them', `[${many(300_000, () => '{}')}]`, 'too_many_members'],
  ])('is refused clearly and soon: %s', async (_, body, code) => {
    for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/responses', '/v1/embeddings', '/v1/rerank']) {
      const began = performance.now()
      const response = await gateway.fetch(path, chatInit(body))
      const told = await response.text()
      expect([response.status, told.includes('invalid_request_error')], path).toEqual([400, true])
      if (path !== '/v1/messages') expect(JSON.parse(told).error.code).toBe(code)
      expect(performance.now() - began).toBeLessThan(10_000)
    }
  })

  it('is not one of many numbers', async () => {
    await upstream.script(vectors, [
      json(200, {
        object: 'list',
        data: [{ object: 'embedding', index: 0, embedding: [1] }],
        usage: { prompt_tokens: 1, total_tokens: 1 },
      }),
    ])
    const body = `{"model":"${vectors}","input":[${many(2048, () => `[${many(1500, (at) => `${at}`)}]`)}]}`
    const response = await gateway.fetch('/v1/embeddings', chatInit(body))
    expect(response.status, await response.text()).toBe(200)
  })
})
