import { expect, inject, it } from 'vitest'
import { chatInit } from '../../support/gateway.ts'
import { json } from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'
import { withGateway } from '../../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const model = 'unreadable-content'
// By its path: the provider of the test cannot read the model of such a body either.
const path = `/${model}/v1/chat/completions`
const gateway = withGateway(
  () => `model_list:
  - model_name: ${model}
    gateway_params: { model: openai-compatible/${model}, api_base: "${upstream.url}/${model}/v1", api_key: sk-up }
`,
)

const finished = () => gateway.logs.filter(({ event }) => event === 'call.finished')
const post = (body: string) => gateway.fetch('/v1/chat/completions', { ...chatInit({}), body })

it('a call whose provider finds that its conversation is no JSON is recorded, without words of it', async () => {
  // Long enough to be passed on unread, with brackets that fit and a word that is no JSON.
  const content = 'secret '.repeat(20_000)
  const body = `{"model":"${model}","messages":[{"role":"user","content":"${content}"},tru]}`
  await upstream.script(path, [json(400, { error: { message: 'Unexpected token in secret at 140000' } })])
  expect((await post(body)).status).toBe(400)
  expect(await upstream.calls(path)).toHaveLength(1)
  await gateway.idle()
  expect(finished()).toHaveLength(1)
  expect(JSON.stringify([gateway.logs, gateway.records])).not.toContain('secret')
})

it('a name of the user that is no JSON is refused before anybody is asked', async () => {
  const before = (await upstream.calls(path)).length
  const user = `${'a'.repeat(140_000)}\\q`
  const refused = await post(`{"model":"${model}","messages":[{"role":"user","content":"Hi"}],"user":"${user}"}`)
  expect([refused.status, await refused.json()]).toMatchObject([400, { error: { code: 'invalid_json' } }])
  expect(await upstream.calls(path)).toHaveLength(before)
})
