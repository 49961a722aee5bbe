import { afterAll, beforeAll, expect, it } from 'vitest'
import { type StrictVendors, startStrictVendors } from './index.ts'

let vendors: StrictVendors
beforeAll(async () => {
  vendors = await startStrictVendors()
})
afterAll(() => vendors.close())

const chat = '/v1/chat/completions'
const messages = [{ role: 'user', content: 'Hi' }]
const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
const turns = [{ role: 'user', content: [{ text: 'Hi' }] }]
const orphan = { role: 'tool', tool_call_id: 'abcdefghi', content: '1' }
const bound = { type: 'thinking', thinking: 'Hm', signature: 'EuSG0=.of-another-conversation' }
const fake = { type: 'thinking', thinking: 'Hm', signature: 'mine' }

const rows: [string, object, number, RegExp][] = [
  [`openai${chat}`, { messages, top_k: 1 }, 400, /Unknown parameter: 'top_k'/],
  [`openai${chat}`, { messages: [...messages, orphan] }, 400, /must be a response to a preceeding message/],
  [`openai${chat}`, { messages, temperature: 0.2 }, 400, /'temperature' is not supported/],
  ['openai/v1/responses', { input: 'Hi', max_tokens: 9 }, 400, /Unknown parameter: 'max_tokens'/],
  ['anthropic/v1/messages', { messages, max_tokens: 9, n: 1 }, 400, /n: Extra inputs are not permitted/],
  [
    'anthropic/v1/messages',
    { messages: [...messages, { role: 'assistant', content: [fake] }, ...messages], max_tokens: 9 },
    400,
    /Invalid `signature`/,
  ],
  [
    'anthropic/v1/messages',
    {
      model: 'claude-fable-5-1',
      messages: [...messages, { role: 'assistant', content: [bound] }, ...messages],
      max_tokens: 9,
    },
    400,
    /bound to a different conversation/,
  ],
  [
    'anthropic/v1/messages',
    { model: 'claude-sonnet-5', messages: [...messages, { role: 'system', content: 'A' }], max_tokens: 9 },
    400,
    /role 'system' is not supported on this model/,
  ],
  ['gemini/v1beta/models/m:generateContent', { contents, n: 1 }, 400, /Unknown name \\"n\\"/],
  ['bedrock/model/m/converse', { messages: [...turns, ...turns] }, 400, /must alternate/],
  ['cohere/v2/chat', { messages, n: 1 }, 422, /parameter 'n' is not a valid field/],
  [`mistral${chat}`, { messages, user: 'me' }, 422, /extra_forbidden/],
  [`mistral${chat}`, { messages: [...messages, orphan] }, 400, /Unexpected role 'tool' after role 'user'/],
  [`openai-compatible${chat}`, { messages: [...messages, { role: 'system', content: 'A' }] }, 400, /at the beginning/],
]

it.each(rows)('%s refuses %j', async (path, body, status, words) => {
  const headers = {
    authorization: 'Bearer k',
    'x-api-key': 'k',
    'x-goog-api-key': 'k',
    'anthropic-version': '2023-06-01',
  }
  const sent = JSON.stringify(/gemini|bedrock/.test(path) ? body : { model: 'm', ...body })
  const answer = await fetch(`${vendors.url}/${path}`, { method: 'POST', headers, body: sent })
  expect([answer.status, await answer.text()]).toEqual([status, expect.stringMatching(words)])
})
