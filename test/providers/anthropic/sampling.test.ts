import { expect, it } from 'vitest'
import type { ChatRequest } from '../../../src/modes/chat.ts'
import { messagesRequest } from '../../../src/providers/anthropic/messages-request.ts'

const both = { temperature: 0.3, top_p: 0.9 }
const usual = { temperature: 1, top_p: 0.95 }

it.each([
  ['claude-haiku-4-5', both, { temperature: 0.3 }, ['top_p']],
  ['claude-haiku-4-5', usual, { top_p: 0.95 }, []],
  ['claude-sonnet-4-6', { temperature: 1.4, top_p: 0.9 }, { top_p: 0.9 }, ['temperature']],
  ['claude-opus-4-1-20250805', both, { temperature: 0.3 }, ['top_p']],
  ['claude-opus-4-1@20250805', both, { temperature: 0.3 }, ['top_p']],
  ['claude-opus-4-20250514', both, both, []],
  ['claude-sonnet-4-0', usual, usual, []],
  ['claude-sonnet-4@20250514', both, both, []],
  ['claude-3-7-sonnet-latest', both, both, []],
  ['claude-haiku-4-5', { temperature: 0 }, { temperature: 0 }, []],
  ['claude-haiku-5-5', both, {}, ['temperature', 'top_p']],
  ['claude-opus-10', both, {}, ['temperature', 'top_p']],
  ['claude-sonnet-latest', both, {}, ['temperature', 'top_p']],
  ['claude-haiku-4-5', { temperature: null, top_p: 0.9 }, { top_p: 0.9 }, []],
] as const)('%s is told of %o', (model, asked, sent, dropped) => {
  const drops: string[] = []
  const body = { model, messages: [{ role: 'user', content: 'Hi' }], ...asked } as unknown as ChatRequest
  const { temperature, top_p } = messagesRequest(body, model, (field) => drops.push(field))
  expect(JSON.parse(JSON.stringify({ temperature, top_p }))).toEqual(sent)
  expect(drops).toEqual(dropped)
})
