import { expect, it } from 'vitest'
import { parseLazily } from '../../../src/lib/json/lazy-json.ts'
import { ownTurns } from '../../../src/providers/anthropic/own-turns.ts'

const own = { type: 'thinking', thinking: 'I read it.', signature: 'EuYBCkQ' }
const unsigned = { ...own, signature: '' }
const ofGemini = { ...own, signature: 'gemini:CiQB' }
const marked = { ...own, signature: 'gateway:unsigned' }
const call = { type: 'tool_use', id: 'c1', name: 'read', input: {} }
const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'It is empty.' }] }
const turns = (...content: object[]) => [{ role: 'user', content: 'Read it.' }, { role: 'assistant', content }, result]

it.each([unsigned, marked, ofGemini])('a relayed request is without thoughts that Claude refuses: %j', (foreign) => {
  const thinking = { type: 'adaptive' }
  expect(ownTurns({ model: 'm', thinking, messages: turns(foreign, call) })).toEqual({ messages: turns(call) })
  const alone = [{ role: 'assistant', content: [foreign] }, ...turns(own, call)]
  expect(ownTurns({ model: 'm', thinking, messages: alone })).toEqual({ messages: turns(own, call) })
})

it('a model that is told how much to think does not think on after calls without thoughts of its own', () => {
  const thinking = { type: 'enabled', budget_tokens: 1024 }
  const edits = [{ type: 'clear_thinking_20251015', keep: 'all' }, { type: 'clear_tool_uses_20250919' }]
  const asked = { model: 'm', thinking, context_management: { edits }, messages: turns(unsigned, call) }
  expect(ownTurns(asked)).toEqual({
    messages: turns(call),
    thinking: { type: 'disabled' },
    context_management: { edits: edits.slice(1) },
  })
  const next = [...turns(unsigned, call), { role: 'assistant', content: 'It is.' }, { role: 'user', content: 'Why?' }]
  expect(ownTurns({ ...asked, messages: next })).not.toHaveProperty('thinking')
})

it('ids of calls that Claude refuses are replaced, equal ones by equal ones', () => {
  const ofKimi = (id: string, more: object[] = []) => [
    { role: 'assistant', content: [...more, { ...call, id }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id }] },
  ]
  const asked = { model: 'm', messages: [...turns(own, call), ...ofKimi('functions.read:0', [unsigned])] }
  const { messages } = ownTurns(asked) as { messages: { content: { id?: string; tool_use_id?: string }[] }[] }
  const id = messages[3]?.content[0]?.id
  expect(id).toMatch(/^[\w-]+$/)
  expect(messages).toEqual([...turns(own, call), ...ofKimi(String(id))])
  expect(ownTurns({ model: 'm', messages: [...turns(own, call), ...ofKimi('functions.read:0')] })).toEqual({ messages })
})

it('a request with no thoughts but its own is relayed as it is, and a long one never built', () => {
  expect(ownTurns({ model: 'm', messages: turns(own, call) })).toEqual({})
  const long = (thought: object) => {
    const text = { type: 'text', text: 'x'.repeat(140_000) }
    return parseLazily(new TextEncoder().encode(JSON.stringify({ model: 'm', messages: turns(thought, text) })))
  }
  const request = long(own) as never
  Object.defineProperty(request, 'messages', { get: () => expect.unreachable('it was built') })
  expect(ownTurns(request)).toEqual({})
  for (const foreign of [ofGemini, { ...call, id: 'a.b' }]) {
    expect(ownTurns(long(foreign) as never)).toHaveProperty('messages')
  }
})
