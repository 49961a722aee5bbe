import { expect, it } from 'vitest'
import { messagesOf } from '../../../src/api/dialects/responses/messages.ts'

const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] }
const thought = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'A file.' }] }
const call = { type: 'function_call', call_id: 'c1', name: 'read', arguments: '{}' }
const called = [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } }]
const role = 'assistant'
const content = 'I look.'

it.each([
  ['text and call', [said, call], [{ role, content, tool_calls: called }]],
  [
    'thought, text and call',
    [thought, said, call],
    [{ role, content, reasoning_content: 'A file.', tool_calls: called }],
  ],
  [
    'text, thought and call',
    [said, thought, call],
    [{ role, content, reasoning_content: 'A file.', tool_calls: called }],
  ],
  [
    'two texts',
    [said, thought, said],
    [
      { role, content },
      { role, content, reasoning_content: 'A file.' },
    ],
  ],
])('items of one turn of the model are one message of chat: %s', (_, items, expected) => {
  const messages = messagesOf(items)
  const plain = messages.map((one) => (Array.isArray(one.content) ? { ...one, content: one.content[0]?.text } : one))
  expect(plain).toEqual(expected)
})

it.each(['user', 'developer'])('a result is told behind its call, before words of the %s since then', (role) => {
  const words = { type: 'message', role, content: 'Hurry.' }
  const result = { type: 'function_call_output', call_id: 'c1', output: 'Done.' }
  const unasked = { ...result, call_id: 'c2' }
  expect(messagesOf([call, words, said, result, unasked]).map((one) => one.role)).toEqual([
    ...['assistant', 'tool'],
    ...[role === 'user' ? 'user' : 'system', 'assistant', 'tool'],
  ])
})
