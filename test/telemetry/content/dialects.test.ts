import { describe, expect, it } from 'vitest'
import { joinedStream } from '../../../src/telemetry/content/joined-stream.ts'
import type { CallFinished } from '../../../src/telemetry/events.ts'
import { messageAttributes } from '../../../src/telemetry/sinks/otlp/message-attributes.ts'

/** What a trace shows of a conversation, in the conventions' words. */
function shown(request: object, answer: unknown) {
  const content = { request: JSON.stringify(request), answer: JSON.stringify(answer) }
  const attributes = messageAttributes({ ending: 'completed' } as unknown as CallFinished, content as never)
  return Object.fromEntries(
    Object.entries(attributes).map(([name, text]) => [name.replace('gen_ai.', ''), text && JSON.parse(String(text))]),
  )
}

const text = (content: string) => ({ type: 'text', content })

describe('a call in the words of the Gemini API', () => {
  const candidate = (parts: object[], more: object = {}) => ({
    candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
    responseId: 'r1',
  })
  const call = { functionCall: { id: 'c1', name: 'f', args: { a: 1 } } }
  const answer = joinedStream([
    candidate([{ text: 'Hm', thought: true }]),
    candidate([{ text: '.', thought: true }, { text: 'Hel' }]),
    candidate([{ text: 'lo' }, call]),
    candidate([{ text: '' }], { finishReason: 'STOP' }),
  ])

  it('is joined of its stream', () => {
    expect(answer).toEqual({
      responseId: 'r1',
      candidates: [
        {
          index: 0,
          finishReason: 'STOP',
          content: { role: 'model', parts: [{ text: 'Hm.', thought: true }, { text: 'Hello' }, call, { text: '' }] },
        },
      ],
    })
  })

  it('is shown as messages', () => {
    const request = {
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'Hi' }] },
        { role: 'model', parts: [call] },
        { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'f', response: { b: 2 } } }] },
      ],
    }
    const called = { type: 'tool_call', id: 'c1', name: 'f', arguments: { a: 1 } }
    expect(shown(request, answer)).toEqual({
      system_instructions: [text('Be brief.')],
      'input.messages': [
        { role: 'user', parts: [text('Hi')] },
        { role: 'assistant', parts: [called] },
        { role: 'user', parts: [{ type: 'tool_call_response', id: 'c1', response: { b: 2 } }] },
      ],
      'output.messages': [
        {
          role: 'assistant',
          parts: [{ type: 'reasoning', content: 'Hm.' }, text('Hello'), called, text('')],
          finish_reason: 'STOP',
        },
      ],
    })
  })
})

describe("a call in the words of Cohere's chat", () => {
  const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }
  const said = (type: string, index: number, message: object) => ({ type, index, delta: { message } })
  const answer = joinedStream([
    { type: 'message-start', id: 'm1', delta: { message: { role: 'assistant' } } },
    { type: 'tool-plan-delta', delta: { message: { tool_plan: 'I look' } } },
    { type: 'tool-plan-delta', delta: { message: { tool_plan: '.' } } },
    said('content-start', 0, { content: { type: 'text', text: '' } }),
    said('content-delta', 0, { content: { text: 'Hel' } }),
    said('content-delta', 0, { content: { text: 'lo' } }),
    { type: 'content-end', index: 0 },
    said('tool-call-start', 0, { tool_calls: { ...call, function: { name: 'f', arguments: '' } } }),
    said('tool-call-delta', 0, { tool_calls: { function: { arguments: '{"a":1}' } } }),
    { type: 'tool-call-end', index: 0 },
    { type: 'message-end', delta: { finish_reason: 'TOOL_CALL' } },
  ])

  it('is joined of its stream, and shown as messages', () => {
    const message = {
      role: 'assistant',
      tool_plan: 'I look.',
      content: [{ type: 'text', text: 'Hello' }],
      tool_calls: [call],
    }
    expect(answer).toEqual({ finish_reason: 'TOOL_CALL', message })
    expect(shown({ messages: [{ role: 'user', content: 'Hi' }] }, answer)['output.messages']).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', content: 'I look.' },
          text('Hello'),
          { type: 'tool_call', id: 'c1', name: 'f', arguments: '{"a":1}' },
        ],
        finish_reason: 'TOOL_CALL',
      },
    ])
  })
})

it('details of reasoning are joined of a stream of chat', () => {
  const detail = (more: object) => ({ type: 'reasoning.text', format: 'unknown', index: 0, ...more })
  const events = [detail({ text: 'H' }), detail({ text: 'm.' }), detail({ text: '', signature: 'c2ln' })].map(
    (one) => ({
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: { reasoning_details: [one] }, finish_reason: null }],
    }),
  )
  const message = { reasoning_details: [detail({ text: 'Hm.', signature: 'c2ln' })] }
  expect(joinedStream(events)).toEqual({ choices: [{ index: 0, message }] })
})
