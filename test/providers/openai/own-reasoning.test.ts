import { expect, it } from 'vitest'
import { secret } from '../../../src/lib/secret.ts'
import type { ChatRequest } from '../../../src/modes/chat.ts'
import type { Adapter } from '../../../src/providers/provider.ts'
import { deploymentOf } from '../../support/deployment-of.ts'

const encoder = new TextEncoder()
const tools = [{ type: 'function', function: { name: 'f' } }]
const asked = [{ role: 'user', content: 'Hi' }]

/** The chat of a deployment: what is asked of it, and what it answers. */
function chatAt(model: string, more: object = {}) {
  const { adapter, connection } = deploymentOf(model, more)
  const chat = adapter('chat') as Adapter<ChatRequest> & Required<Pick<Adapter<ChatRequest>, 'stream'>>
  const call = (messages: unknown[]) => {
    const body = { model: 'public', messages, tools } as unknown as ChatRequest
    return {
      body,
      bytes: new Uint8Array(),
      streamed: false,
      translated: true as const,
    }
  }
  const said = (answer: object) => encoder.encode(JSON.stringify({ object: 'response', ...answer }))
  return {
    input: async (messages: unknown[]) =>
      JSON.parse(String((await chat.request(call(messages), connection)).body)).input,
    whole: (answer: object) => chat.reply(said(answer), {}, call(asked)).completion?.choices[0]?.message,
    streamed: (...events: object[]) =>
      chat
        .stream(call(asked), {})
        .push(encoder.encode(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')))
        .flatMap(({ chunk }) => chunk?.choices.flatMap(({ delta }) => delta.thinking_blocks ?? []) ?? []),
  }
}

const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' }
const called = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' }

/** @see https://cookbook.openai.com/examples/responses_api/reasoning_items */
it('goes on from what it has thought, and no other model or account is sent that', async () => {
  const luna = chatAt('openai/gpt-6-luna')
  const message = luna.whole({ status: 'completed', output: [thought, called] })
  const [block] = message?.thinking_blocks ?? []
  expect(
    luna.streamed(
      { type: 'response.created', response: { id: 'resp_1', object: 'response' } },
      { type: 'response.output_item.done', output_index: 0, item: thought },
    ),
  ).toEqual([block])

  const messages = [...asked, message, { role: 'tool', tool_call_id: 'c1', content: 'ok' }]
  const items = [{ type: 'reasoning', summary: [], encrypted_content: 'gAAAA' }, called]
  expect((await luna.input(messages)).slice(1, -1)).toEqual(items)
  const others = [chatAt('openai/gpt-6-terra'), chatAt('openai/gpt-6-luna', { api_key: secret('another') })]
  for (const other of others) expect((await other.input(messages)).slice(1, -1)).toEqual(items.slice(1))
  // Thoughts alone are refused.
  const cut = { role: 'assistant', content: null, thinking_blocks: [block] }
  expect(await luna.input([...asked, cut, ...asked])).toHaveLength(2)
})
