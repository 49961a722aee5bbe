import { expect, inject, it } from 'vitest'
import { configOf, startGateway } from '../../support/gateway.ts'
import { frames } from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const model = 'long-preface'

it('a stream that says more than any event may before it begins to answer is given up', async () => {
  const gateway = await startGateway(
    configOf(upstream.url, { [model]: [model] }, 'router_settings: { num_retries: 0 }'),
  )
  const said = { id: 'c', object: 'chat.completion.chunk', created: 1, model }
  const chunk = { ...said, choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: 'stop' }] }
  const long = new Array(33).fill(`: ${'x'.repeat(2 ** 20)}\n\n`)
  const many = [':\n\n'.repeat(400_000)]
  for (const preface of [long, many]) {
    await upstream.script(model, [frames([...preface, `data: ${JSON.stringify(chunk)}\n\n`, 'data: [DONE]\n\n'])])
    const response = await gateway.chat({ model, stream: true, messages: [{ role: 'user', content: 'Hello' }] })
    expect([response.status, await response.text()]).toEqual([502, expect.stringContaining('too large')])
  }
  await gateway.close()
})
