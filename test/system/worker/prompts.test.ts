import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { chatInit, MASTER_KEY } from '../../support/gateway.ts'
import { upstreamClient } from '../../support/upstream-client.ts'
import { workerModules } from './support/built-once.ts'
import { type Edge, edgeExists, startEdge } from './support/edge.ts'
import { withConfig } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const yaml = `
model_list:
  - { model_name: m, gateway_params: { model: openai-compatible/prompts-workerd, api_base: '${upstream.url}/v1', api_key: k } }
`

describe.skipIf(!edgeExists())('on workerd, prompts', () => {
  let edge: Edge
  let one: Workerd
  let other: Workerd

  beforeAll(async () => {
    edge = await startEdge()
    const modules = withConfig(await workerModules(), yaml)
    one = await startWorkerd(modules, edge.variables)
    other = await startWorkerd(modules, edge.variables)
  })
  afterAll(async () => {
    await Promise.all([one?.stop(), other?.stop()])
    await edge?.close()
  })

  const call = (worker: Workerd, path: string, init: RequestInit) =>
    fetch(worker.url + path, { ...init, headers: { ...init.headers, authorization: `Bearer ${MASTER_KEY}` } })
  const ui = async (method: string, path: string, body: object) => {
    const response = await call(one, `/ui/api/prompts${path}`, { ...chatInit(body), method })
    // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
    return { status: response.status, body: (await response.json()) as any }
  }
  const say = (content: string) => ({ messages: [{ role: 'system', content }] })

  async function ask(worker: Workerd, prompt_ref: string, who = '😀 {{who}}\0') {
    const metadata = { prompt_ref, prompt_variables: { who } }
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], metadata }
    const response = await call(worker, '/v1/chat/completions', chatInit(body))
    await response.text()
    if (response.status !== 200) return response.status
    const sent = (await upstream.calls('prompts-workerd')).at(-1)?.body
    const { messages } = JSON.parse(new TextDecoder().decode(sent))
    return [response.headers.get('x-gateway-prompt'), messages[0].content]
  }

  it('are numbered without gaps when fifty are made at once, and rendered into calls of every isolate', async () => {
    expect((await ui('POST', '', { key: 'busy', ...say('0 {{who}}') })).status).toBe(201)
    const made = await Promise.all(
      Array.from({ length: 49 }, (_, index) => ui('POST', '/busy/versions', say(`${index + 1} {{who}}`))),
    )
    expect(made.map(({ body }) => body.latest).sort((a, b) => a - b)).toEqual(made.map((_, index) => index + 2))
    expect(await ask(one, 'busy@1')).toEqual(['busy@1', '0 😀 {{who}}\0'])
    // Another time from memory, and in an isolate that starts with it.
    expect(await ask(one, 'busy@1')).toEqual(['busy@1', '0 😀 {{who}}\0'])
    expect(await ask(other, 'busy@1')).toEqual(['busy@1', '0 😀 {{who}}\0'])
    expect(await ask(one, 'busy@51')).toBe(400)
  })

  it('a label that moves reaches a running isolate within 5 s', async () => {
    await ui('POST', '', { key: 'moved', ...say('old {{who}}'), labels: ['production'] })
    await ui('POST', '/moved/versions', say('new {{who}}'))
    const within5s = async (wanted: string) => {
      const since = Date.now()
      while (String(await ask(other, 'moved', 'x')) !== wanted) {
        expect(Date.now() - since).toBeLessThan(15_000)
        await wait(100)
      }
    }
    await within5s('moved@1,old x')
    expect((await ui('PUT', '/moved/labels/production', { version: 2 })).status).toBe(200)
    await within5s('moved@2,new x')
    await ui('POST', '/moved/archive', {})
    await within5s('400')
  })
})
