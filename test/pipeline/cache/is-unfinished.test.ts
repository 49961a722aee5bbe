import { expect, it } from 'vitest'
import { isUnfinished } from '../../../src/pipeline/cache/is-unfinished.ts'

const encoder = new TextEncoder()
const told = (answer: object | string) =>
  isUnfinished(encoder.encode(typeof answer === 'string' ? answer : JSON.stringify(answer)))

it.each([
  { choices: [{ finish_reason: 'stop' }, { finish_reason: null }] },
  { choices: [{ finish_reason: '' }] },
  { content: [], stop_reason: null },
  { output: {}, stopReason: null },
  '{ "choices": [{ "finish_reason" : null }] }',
])('%j does not say why it ended', (answer) => {
  expect(told(answer)).toBe(true)
})

it.each([
  { choices: [{ finish_reason: 'stop', message: { content: '"finish_reason":null' } }] },
  { content: [{ type: 'text', text: 'x' }], stop_reason: 'end_turn', stop_sequence: null },
  { output: { message: {} }, stopReason: 'end_turn' },
  // As vLLM has it.
  { choices: [{ finish_reason: 'stop', stop_reason: null }] },
  { data: [{ embedding: [1] }] },
])('%j is finished', (answer) => {
  expect(told(answer)).toBe(false)
})
