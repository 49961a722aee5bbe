import { describe, expect, inject, it } from 'vitest'
import { event, last, words } from '../fixtures/anthropic/events.ts'
import { chatInit } from '../support/gateway.ts'
import { readStream } from '../support/sse.ts'
import { frames, json } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const group = `ids-${run}`
const claudes = [`${group}-claude-a`, `${group}-claude-b`] as const
const speakers = [`${group}-speaks-a`, `${group}-speaks-b`] as const
const gemini = `${group}-gemini`

const gateway = withGateway(() => {
  const entry = (name: string, id: string, kind: string, base: string) =>
    `  - model_name: ${name}\n    deployment_id: ${id}\n    gateway_params: { model: ${kind}/${id}, api_base: '${upstream.url}${base}', api_key: sk-of-${id} }\n`
  return `model_list:\n${[
    ...claudes.map((id) => entry('claude', id, 'anthropic', `/${id}`)),
    ...speakers.map((id) => entry('speaks', id, 'openai', '/v1')),
    entry('gemini', gemini, 'gemini', `/${gemini}`),
  ].join('')}`
})

const messages = [{ role: 'user', content: 'Hello' }]
const post = (path: string, body: object) => gateway.fetch(path, chatInit({ messages, max_tokens: 50, ...body }))
const servedBy = async (response: Response) => {
  await response.arrayBuffer()
  return [response.status, response.headers.get('x-gateway-deployment')]
}
const refusal = async (response: Response) => [response.status, await response.json()]

describe('ids of the Messages API', () => {
  const ask = (body: object) => post('/v1/messages', { model: 'claude', ...body })
  const container = (id: string) => ({ id, expires_at: '2026-12-01T00:00:00Z' })
  const message = (id: string, more: object) => ({
    id: 'msg_01',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [],
    stop_reason: 'end_turn',
    usage: { input_tokens: 10, output_tokens: 7 },
    container: container(id),
    ...more,
  })
  const result = (file_id: string) => ({
    type: 'bash_code_execution_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: {
      type: 'bash_code_execution_result',
      stdout: '',
      stderr: '',
      return_code: 0,
      content: [{ type: 'bash_code_execution_output', file_id }],
    },
  })
  const upload = (file_id: string) => [{ role: 'user', content: [{ type: 'container_upload', file_id }] }]

  it('of an answer go back to who made it, of nobody nowhere', async () => {
    for (const id of claudes) {
      const made = message(`container_${id}`, { content: [{ type: 'text', text: 'Hi' }, result(`file_${id}`)] })
      await upstream.script(`/${id}`, [json(200, made)])
    }
    const made = new Set<string>()
    for (let at = 0; at < 40 && made.size < 2; at++) made.add((await servedBy(await ask({})))[1] as string)
    expect(made.size).toBe(2)
    for (const id of claudes) {
      for (let at = 0; at < 4; at++) {
        expect(await servedBy(await ask({ container: `container_${id}` }))).toEqual([200, id])
        const again = { id: `container_${id}`, skills: [{ type: 'anthropic', skill_id: 'pptx' }] }
        expect(await servedBy(await ask({ container: again, messages: upload(`file_${id}`) }))).toEqual([200, id])
      }
    }
    const refused = await ask({ container: `container_${claudes[0]}`, messages: upload(`file_${claudes[1]}`) })
    expect(refused.status).toBe(404)
  })

  it('of a stream are known when it has ended', async () => {
    const begun = message('container_streamed', { stop_reason: null, container: null })
    const events = [
      event('message_start', { message: begun }),
      event('content_block_start', { index: 0, content_block: result('file_streamed') }),
      event('content_block_stop', { index: 0 }),
      words(1, 'Hi'),
      event('message_delta', {
        delta: { stop_reason: 'end_turn', stop_sequence: null, container: container('container_streamed') },
        usage: { output_tokens: 7 },
      }),
      last,
    ]
    for (const id of claudes) await upstream.script(`/${id}`, [frames(events)])
    const streamed = await ask({ stream: true })
    expect((await readStream(streamed)).text).toBe(events.join(''))
    const body = { container: 'container_streamed', messages: upload('file_streamed'), stream: true }
    for (let at = 0; at < 6; at++) {
      expect(await servedBy(await ask(body))).toEqual([200, streamed.headers.get('x-gateway-deployment')])
    }
  })

  it('that its provider has lost blame nobody, in whatever words it says so', async () => {
    const lost = { type: 'not_found_error', message: 'The environment container_lost is gone.' }
    const made = json(200, message('container_lost', { content: [{ type: 'text', text: 'Hi' }] }))
    for (const id of claudes) await upstream.script(`/${id}`, [made])
    const maker = (await servedBy(await ask({})))[1] as string
    await upstream.script(`/${maker}`, [json(404, { type: 'error', error: lost }), made])
    const refused = await ask({ container: 'container_lost' })
    expect(await refusal(refused)).toMatchObject([404, { error: { type: 'not_found_error' } }])
    await gateway.idle()
    expect(await servedBy(await ask({ container: 'container_lost' }))).toEqual([200, maker])
  })

  it('of a message of a thread are what its next turn goes on from, whole and streamed; others begin anew', async () => {
    const whole = (id: string) => json(200, { ...message('', { container: null }), id: `msg_${id}` })
    const begin = { thread: { type: 'create' } }
    const goOn = (previous_message_id: string) => ask({ thread: { type: 'continue', previous_message_id } })
    for (const id of claudes) {
      const begun = { ...message('', { container: null }), id: `msg_streamed_${id}`, content: [] }
      await upstream.script(`/${id}`, [frames([event('message_start', { message: begun }), words(0, 'Hi'), last])])
    }
    const streamed = await ask({ ...begin, stream: true })
    await readStream(streamed)
    for (const id of claudes) await upstream.script(`/${id}`, [whole(id)])
    const [, maker] = await servedBy(await ask(begin))
    const streamedBy = streamed.headers.get('x-gateway-deployment')
    for (let at = 0; at < 3; at++) {
      expect(await servedBy(await goOn(`msg_${maker}`))).toEqual([200, maker])
      expect(await servedBy(await goOn(`msg_streamed_${streamedBy}`))).toEqual([200, streamedBy])
    }
    expect(await refusal(await goOn('msg_of_others'))).toMatchObject([
      404,
      { error: { type: 'not_found_error', details: { error_code: 'thread_not_found' } } },
    ])
  })

  it('that no call made are refused by their field, in the words of the dialect, counting included', async () => {
    const source = { type: 'file', file_id: 'file_1' }
    const nested = { type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source }] }
    const cases = [
      [{ container: 'container_1' }],
      [{ container: { id: null, skills: [{ type: 'custom', skill_id: 'skill_1' }] } }],
      [{ thread: 'thread_1' }],
      [{ messages: [{ role: 'user', content: [{ type: 'document', source }] }] }],
      [{ messages: [{ role: 'user', content: [nested] }] }],
      [{ messages: upload('file_1') }],
    ] as const
    const before = await Promise.all(claudes.map((id) => upstream.calls(`/${id}`)))
    for (const [body] of cases) {
      for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
        expect(await refusal(await post(path, { model: 'claude', ...body }))).toMatchObject([
          404,
          { type: 'error', error: { type: 'not_found_error' } },
        ])
      }
    }
    const after = await Promise.all(claudes.map((id) => upstream.calls(`/${id}`)))
    expect(after.map(({ length }) => length)).toEqual(before.map(({ length }) => length))
  })
})

describe('ids of chat', () => {
  const ask = (body: object) => post('/v1/chat/completions', { model: 'speaks', ...body })
  const spoken = { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } }
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  const goOn = (id: string, more: object = {}) => ({
    messages: [...messages, { role: 'assistant', audio: { id } }, { role: 'user', content: 'Louder.' }],
    ...more,
  })

  it('name what was said aloud, whole and streamed, however long', async () => {
    for (const id of speakers) {
      const audio = { id: `audio_${id}`, data: 'A'.repeat(20_000), transcript: 'Hi', expires_at: 1_800_000_000 }
      const choice = { index: 0, message: { role: 'assistant', content: null, audio }, finish_reason: 'stop' }
      await upstream.script(id, [json(200, { id: 'c', object: 'chat.completion', choices: [choice], usage })])
    }
    const made = new Set<string>()
    for (let at = 0; at < 40 && made.size < 2; at++) made.add((await servedBy(await ask(spoken)))[1] as string)
    expect(made.size).toBe(2)
    for (const id of speakers) {
      for (let at = 0; at < 4; at++) {
        expect(await servedBy(await ask(goOn(`audio_${id}`, spoken)))).toEqual([200, id])
        // So long that its conversation is not built before somebody reads it, and written with escapes.
        const long = JSON.stringify({
          model: 'speaks',
          ...goOn(`audio_${id}`, { messages: [...messages, { role: 'user', content: 'x'.repeat(200_000) }] }),
        }).replace(/}]}$/, `},{"role":"assistant","\\u0061udio":{"\\u0069d":"audio_${id}"}}]}`)
        expect(await servedBy(await gateway.fetch('/v1/chat/completions', chatInit(long)))).toEqual([200, id])
      }
    }
    const chunk = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    for (const id of speakers) {
      const first = { role: 'assistant', content: 'x', audio: { id: `audio_streamed_${id}`, transcript: 'H' } }
      const pieces = [chunk(first), chunk({ audio: { data: 'AAAA' } }), chunk({}, 'stop'), 'data: [DONE]\n\n']
      await upstream.script(id, [frames(pieces)])
    }
    const streamed = await ask({ ...spoken, stream: true })
    await readStream(streamed)
    const maker = streamed.headers.get('x-gateway-deployment')
    for (let at = 0; at < 4; at++) {
      expect(await servedBy(await ask({ ...goOn(`audio_streamed_${maker}`), stream: true }))).toEqual([200, maker])
    }
  })

  it('that no call made are refused by their field', async () => {
    const file = (part: object) => ({ messages: [{ role: 'user', content: [part] }] })
    const cases = [
      ['messages.1.audio.id', 'speaks', goOn('audio_nobody')],
      ['messages.0.content.0.file.file_id', 'speaks', file({ type: 'file', file: { file_id: 'file-1' } })],
      ['messages.0.content.0.file_id', 'speaks', file({ type: 'file', file_id: 'file-1' })],
      ['cached_content', 'gemini', { cached_content: 'cachedContents/1' }],
    ] as const
    for (const [param, model, body] of cases) {
      expect(await refusal(await ask({ model, ...body }))).toMatchObject([404, { error: { param } }])
    }
    expect(await upstream.calls(`/${gemini}`)).toHaveLength(0)
  })
})
