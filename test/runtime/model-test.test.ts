import { expect, inject, it } from 'vitest'
import { json } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const gateway = withGateway('model_list: []')

async function tried(gateway_params: object, model_info: object = {}, test: object = {}) {
  const response = await gateway.fetch('/ui/api/models/test', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model_name: 'draft', gateway_params, model_info, test }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

it('a deployment that is not saved is tried as a call would: streamed, with a recording, at nobody', async () => {
  expect(await tried({ model: 'echo/any' })).toMatchObject({
    status: 200,
    body: { ok: true, streamed: true, model: 'any', usage: { input_tokens: 1 } },
  })
  const path = `trial-${gateway.runtime}`
  await upstream.script(`/${path}`, [json(200, { text: 'silence' })])
  const params = {
    model: 'openai-compatible/ears',
    api_base: `${upstream.url}/${path}/v1`,
    api_key: 'sk-trial-canary-1',
  }
  expect((await tried(params, { mode: 'audio_transcription' })).body).toMatchObject({
    ok: true,
    usage: { audio_seconds: 0.5 },
  })
  const [call] = await upstream.calls(`/${path}`)
  expect(call?.headers['content-type']).toMatch(/^multipart\/form-data/)
  const dead = await tried({ ...params, api_base: 'http://127.0.0.1:1/v1' })
  expect(dead.body).toMatchObject({ ok: false, failure: { code: 'upstream_unreachable' } })
})

it('a deployment is tried for any time, also for one that is no whole number of milliseconds', async () => {
  expect(await tried({ model: 'echo/any' }, {}, { timeout_seconds: 9.9999 })).toMatchObject({ body: { ok: true } })
})
