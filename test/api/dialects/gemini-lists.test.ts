import { describe, expect, it } from 'vitest'
import { asLists } from '../../../src/api/dialects/gemini/lists.ts'
import { parseLazily } from '../../../src/lib/json/lazy-json.ts'

const text = { text: 'Hello' }

describe('lists of a request of Gemini’s API', () => {
  it.each([
    [{ contents: { role: 'user', parts: text } }, { contents: [{ role: 'user', parts: [text] }] }],
    [{ contents: [{ parts: [text] }, { parts: text }] }, { contents: [{ parts: [text] }, { parts: [text] }] }],
    [{ systemInstruction: { role: 'user', parts: text } }, { systemInstruction: { role: 'user', parts: [text] } }],
    [{ tools: { googleSearch: {} } }, { tools: [{ googleSearch: {} }] }],
    [{ tools: { functionDeclarations: { name: 'f' } } }, { tools: [{ functionDeclarations: [{ name: 'f' }] }] }],
    [{ safety_settings: { threshold: 'OFF' } }, { safety_settings: [{ threshold: 'OFF' }] }],
    [{ contents: [{ parts: [text] }, null, { parts: null }], systemInstruction: 'Be brief.', tools: null }, {}],
  ])('are made of %j', (body, changes) => {
    expect(asLists(body)).toEqual(changes)
  })

  it('leave a long conversation unread that is written in lists', () => {
    const body = { contents: [{ parts: [{ text: 'x'.repeat(200_000) }] }], tools: { googleSearch: {} } }
    // What is not JSON stands behind the first turn.
    const bytes = new TextEncoder().encode(JSON.stringify(body).replace(']}],', ']},{"parts":[nul]}],'))
    expect(asLists(parseLazily(bytes) as typeof body)).toEqual({ tools: [{ googleSearch: {} }] })
  })
})
