import { describe, expect, it } from 'vitest'
import { providers } from '../../../../src/providers/index.ts'
import { withReasoning } from '../../../../src/providers/wire/fitting/reasoning-history.ts'
import { gatewayParams } from '../../../../src/routing/configuration.ts'
import { wholeBody } from '../../../../src/transport/whole-body.ts'

const user = { role: 'user', content: 'And now?' }
const turn = (thoughts: object) => ({ role: 'assistant', content: 'Four.', ...thoughts })
const EVERYTHING = {
  reasoning_content: 'two and two',
  reasoning_details: [{ type: 'reasoning.text', text: 'two and two' }],
  thinking_blocks: [{ type: 'thinking', thinking: 'two and two', signature: 's' }],
}

describe('what a model thought in earlier turns', () => {
  it.each([
    ['reasoning_content', EVERYTHING, { reasoning_content: 'two and two' }],
    ['reasoning', EVERYTHING, { reasoning: 'two and two' }],
    ['none', EVERYTHING, {}],
    ['reasoning_content', { reasoning: 'two' }, { reasoning_content: 'two' }],
    ['reasoning', { reasoning: 'two' }, { reasoning: 'two' }],
    ['reasoning', { thinking_blocks: [{ type: 'redacted_thinking', data: 'x' }] }, {}],
  ] as const)('goes where a vendor of %s reads it', (field, thoughts, expected) => {
    expect(withReasoning([user, turn(thoughts), user], field)).toEqual([user, turn(expected), user])
  })

  it('changes nothing where there is nothing of it', () => {
    const messages = [user, turn({}), user]
    expect(withReasoning(messages, 'none')).toBe(messages)
  })

  it.each([
    ['mistral', {}],
    ['groq', { reasoning: 'two and two' }],
    ['cerebras', { reasoning: 'two and two' }],
    ['deepseek', { reasoning_content: 'two and two' }],
    ['moonshot', { reasoning_content: 'two and two' }],
    // Nobody knows what stands behind the address of an operator's own.
    ['openai-compatible', EVERYTHING],
  ])('is said to %s in its words', async (kind, expected) => {
    const provider = providers.get(kind)
    const api_base = 'https://there.example/v1'
    const connection = provider?.connect(gatewayParams().parse({ model: `${kind}/m`, api_base }), {})
    const body = { model: 'm', messages: [user, turn(EVERYTHING), user], top_p: 0.7 }
    const bytes = new TextEncoder().encode(JSON.stringify(body))
    const call = { body, bytes, streamed: false }
    const asked = connection && (await provider?.adapters.chat?.request(call, connection))
    const sent = new TextDecoder().decode(wholeBody(asked?.body) as Uint8Array)
    expect(JSON.parse(sent)).toEqual({ ...body, messages: [user, turn(expected), user] })
  })

  it.each([
    ['openai', {}],
    ['azure', {}],
    ['vllm', EVERYTHING],
  ])('is not said to %s in a field that only another dialect has', async (kind, expected) => {
    const provider = providers.get(kind)
    const api_base = 'https://there.example/v1'
    const connection = provider?.connect(gatewayParams().parse({ model: `${kind}/m`, api_base }), {})
    const body = { model: 'm', messages: [user, turn(EVERYTHING)] }
    const bytes = new TextEncoder().encode(JSON.stringify(body))
    const call = { body, bytes, streamed: false, translated: true } as const
    const asked = connection && (await provider?.adapters.chat?.request(call, connection))
    const sent = asked?.body
    const text =
      sent instanceof Uint8Array
        ? new TextDecoder().decode(sent)
        : new TextDecoder().decode(wholeBody(sent) as Uint8Array)
    expect(JSON.parse(text)).toEqual({ ...body, messages: [user, turn(expected)] })
  })
})
