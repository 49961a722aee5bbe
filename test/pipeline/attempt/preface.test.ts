import { expect, inject, it } from 'vitest'
import { newAbort } from '../../../src/lib/abort.ts'
import type { GatewayError } from '../../../src/lib/errors.ts'
import { startClocks } from '../../../src/pipeline/attempt/clocks.ts'
import { openEvents } from '../../../src/pipeline/attempt/open-answer.ts'
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

it('a first token that is read when its time has just run out begins no answer', async () => {
  const ended = newAbort<GatewayError>()
  let runOut = () => {}
  const timers = { after: (_ms: number, run: () => void) => (runOut = run), stop() {} }
  const limits = { deadline: Number.POSITIVE_INFINITY, callMs: 1000, answerMs: 1000, firstTokenMs: 0, idleMs: 1000 }
  const clocks = startClocks({ ...limits, timers, showMs: 1000, ended } as unknown as Parameters<typeof startClocks>[0])
  const read = async () => {
    runOut()
    return new Uint8Array(1)
  }
  type Arguments = Parameters<typeof openEvents>
  const tried = {} as Arguments[0]
  const asked = { translator: { stream: () => ({ push: () => [{ commits: true }] }) } } as unknown as Arguments[1]
  const response = { body: { read }, headers: { 'content-type': 'text/event-stream' } } as unknown as Arguments[2]
  const opening = openEvents(tried, asked, response, { clocks, arrived() {} })
  await expect(opening).rejects.toMatchObject({ failure: 'upstream_timeout' })
  expect(tried.firstTokenAt).toBeUndefined()
})
