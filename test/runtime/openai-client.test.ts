import { AuthenticationError, NotFoundError } from 'openai'
import { describe, expect, inject, it } from 'vitest'
import { configOf } from '../support/gateway.ts'
import { openaiClient } from '../support/openai-client.ts'
import { answer, contextWindowExceeded } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
let model: string

const client = (apiKey?: string) => openaiClient(gateway, apiKey)

const gateway = withGateway(() => {
  model = `sdk-${globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'workerd' : 'node'}`
  const scripted = configOf(upstream.url, { [model]: [model] }, 'router_settings: { cooldown_time: 0 }\n')
  return `${scripted}  - model_name: echo\n    gateway_params: { model: echo/echo }\n`
})

describe('the official openai client', () => {
  it('lists the models', async () => {
    const ids = []
    for await (const entry of client().models.list()) ids.push(entry.id)
    expect(ids).toEqual(['echo', model])
    expect(await client().models.retrieve('echo')).toMatchObject({ id: 'echo', object: 'model' })
  })

  it('chats with echo, whole and streamed', async () => {
    const messages = [{ role: 'user' as const, content: 'Hello there, Zürich 🙂' }]
    const whole = await client().chat.completions.create({ model: 'echo', messages })
    expect(whole.choices[0]?.message.content).toBe('Hello there, Zürich 🙂')
    expect(whole.usage?.total_tokens).toBeGreaterThan(0)

    const runner = client().chat.completions.stream({
      model: 'echo',
      messages,
      stream_options: { include_usage: true },
    })
    const final = await runner.finalChatCompletion()
    expect(final.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Hello there, Zürich 🙂' } })
    expect(final.usage?.completion_tokens).toBeGreaterThan(0)
  })

  it('gets parallel tool calls out of a stream', async () => {
    const toolCalls = [
      { id: 'call_a', name: 'weather', arguments: '{"city":"Zürich"}' },
      { id: 'call_b', name: 'time', arguments: '{"zone":"Europe/Zurich"}' },
    ]
    await upstream.script(model, [answer({ toolCalls, finishReason: 'tool_calls' })])
    const tools = toolCalls.map(({ name }) => ({
      type: 'function' as const,
      function: { name, parameters: { type: 'object', properties: {} } },
    }))
    const runner = client().chat.completions.stream({
      model,
      tools,
      messages: [{ role: 'user', content: 'Both, please.' }],
    })
    const final = await runner.finalChatCompletion()
    expect(final.choices[0]?.message.tool_calls).toMatchObject(
      toolCalls.map(({ id, name, arguments: text }) => ({ id, function: { name, arguments: text } })),
    )
  })

  it('raises the errors that it would raise with the vendor', async () => {
    const messages = [{ role: 'user' as const, content: 'Hello' }]
    await expect(client('sk-wrong').models.list()).rejects.toBeInstanceOf(AuthenticationError)
    await expect(client().chat.completions.create({ model: 'nope', messages })).rejects.toBeInstanceOf(NotFoundError)
    await upstream.script(model, [contextWindowExceeded()])
    const tooLong = client().chat.completions.create({ model, messages })
    await expect(tooLong).rejects.toMatchObject({ status: 400, code: 'context_length_exceeded' })
  })
})
