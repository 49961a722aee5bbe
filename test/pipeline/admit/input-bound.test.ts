import { describe, expect, it } from 'vitest'
import { messagesDialect } from '../../../src/api/dialects/messages.ts'
import { responsesDialect } from '../../../src/api/dialects/responses.ts'
import { parseLazily } from '../../../src/lib/json/lazy-json.ts'
import { chat } from '../../../src/modes/chat.ts'
import { asMode, type ModelRequest } from '../../../src/modes/mode.ts'
import { inputBound } from '../../../src/pipeline/admit/input-bound.ts'

type Input = Parameters<typeof inputBound>[0]

const dialects = { messages: messagesDialect, responses: responsesDialect }

function boundOf(request: object, dialect: keyof typeof dialects = 'messages') {
  const bytes = new TextEncoder().encode(JSON.stringify({ model: 'm', ...request }))
  const endpoint = { mode: asMode(chat), dialect: dialects[dialect] }
  const input = { endpoint, bytes } as unknown as Input
  return { ...inputBound(input, parseLazily(bytes) as ModelRequest), bytes: bytes.byteLength }
}
const user = (...content: unknown[]) => ({ messages: [{ role: 'user', content }] })

const letters = (count: number) => 'iVBORw0KGgoAAAANSUhEUgAA'.repeat(Math.ceil(count / 24)).slice(0, count)
const SIZES = [10_000, 100_000, 3_000_000]

describe.each(SIZES)('%i letters that look like a file', (size) => {
  const data = letters(size)
  const url = `data:image/png;base64,${data}`

  it.each([
    ['a text part', user({ type: 'text', text: url })],
    ['a text', { messages: [{ role: 'user', content: url }] }],
    ['instructions', { system: [{ type: 'text', text: data }], messages: [] }],
    ['arguments', user({ type: 'tool_use', id: 't', name: 'f', input: { type: 'image', source: { data } } })],
    ['the schema of a tool', { messages: [], tools: [{ name: 'f', input_schema: { image_url: { url } } }] }],
    ['a document of text', user({ type: 'document', source: { type: 'text', media_type: 'text/plain', data } })],
    ['a text in letters', user({ type: 'document', source: { type: 'base64', media_type: 'text/csv', data } })],
    ['a field that nobody knows', { messages: [], image_url: url }],
  ])('are text where text stands: %s', (_name, request) => {
    const { tokens, bytes } = boundOf(request)
    expect(tokens).toBeGreaterThanOrEqual(bytes)
  })

  it.each([
    ['an image by its address', { type: 'image_url', image_url: { url } }],
    ['an image by its bytes', { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }],
    ['the image of a result', { type: 'tool_result', content: [{ type: 'image', source: { type: 'base64', data } }] }],
  ])('are an image where one stands: %s', (_name, part) => {
    const { tokens, bytes } = boundOf(user(part))
    expect(tokens).toBe(bytes - (part.type === 'image_url' ? url.length : size) + 5000)
  })

  it('are an image in the items of Responses', () => {
    const parts = [{ type: 'input_image', image_url: url }]
    const items = [
      { role: 'user', content: parts },
      { type: 'function_call_output', output: parts },
      { type: 'computer_call_output', output: { type: 'computer_screenshot', image_url: url } },
      { type: 'image_generation_call', result: data },
    ]
    for (const item of items) expect(boundOf({ input: [item] }, 'responses').tokens).toBeLessThan(6000)
  })

  it('are a document, or a sound, for a part of themselves', () => {
    const pdf = boundOf(user({ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } }))
    expect(pdf.tokens).toBe(pdf.bytes - size + size / 4)
    expect(pdf.pointsElsewhere).toBe(false)
    const sound = boundOf(user({ type: 'input_audio', input_audio: { data, format: 'mp3' } }))
    expect(sound.tokens).toBe(sound.bytes - size + Math.ceil(size / 16))
  })
})

describe('a request that is longer than its body', () => {
  it('counts an image wherever it is', () => {
    const image = { type: 'image_url', image_url: { url: 'https://images.test/1.png' } }
    const one = boundOf(user(image))
    expect(one.tokens).toBe(one.bytes + 5000)
    const three = boundOf(user(image, { type: 'text', text: 'Hi' }, image, image))
    expect(three.tokens).toBe(three.bytes + 15_000)
    expect(three.pointsElsewhere).toBe(false)
  })

  it.each([
    ['responses', { previous_response_id: 'resp_1' }],
    ['responses', { conversation: { id: 'conv_1' } }],
    ['responses', { prompt: { id: 'pmpt_1' } }],
    ['responses', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['responses', { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] }],
    ['responses', { input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'https://a.test/b' }] }] }],
    ['responses', { tools: [{ type: 'web_search' }] }],
    ['responses', { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }],
    ['messages', user({ type: 'document', source: { type: 'url', url: 'https://a.test/b.pdf' } })],
    ['messages', user({ type: 'document', source: { type: 'file', file_id: 'file_1' } })],
    ['messages', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['messages', { mcp_servers: [{ type: 'url', url: 'https://a.test' }] }],
  ] as const)('says so, in %s: %o', (dialect, request) => {
    expect(boundOf({ messages: [], ...request }, dialect).pointsElsewhere).toBe(true)
  })

  it('is not one with tools and words of its own', () => {
    const tools = [{ type: 'function', name: 'f' }, { name: 'search' }, { type: 'custom', name: 'fetch' }]
    expect(boundOf({ ...user({ type: 'text', text: 'Hi' }), tools, mcp_servers: [] }).pointsElsewhere).toBe(false)
  })

  it('is one that its vendor keeps, for as long as it says', () => {
    const cache_control = { type: 'ephemeral' }
    expect(boundOf(user({ type: 'text', text: 'Hi' })).cached).toBe(undefined)
    expect(boundOf(user({ type: 'text', text: 'Hi', cache_control })).cached).toBe('5m')
    expect(boundOf({ messages: [], tools: [{ name: 'f', cache_control }] }).cached).toBe('5m')
    expect(boundOf({ messages: [], system: [{ type: 'text', cache_control: { ttl: '1h' } }] }).cached).toBe('1h')
    expect(boundOf({ messages: [], cache_control }).cached).toBe('5m')
    const prompt_cache_breakpoint = { mode: 'explicit', ttl: '12h' }
    expect(boundOf(user({ type: 'text', text: 'Hi', prompt_cache_breakpoint })).cached).toBe('1h')
    expect(boundOf({ messages: [], prompt_cache_options: { ttl: '30m' } }).cached).toBe('5m')
    expect(boundOf({ messages: [], prompt_cache_options: { ttl: '12h' } }).cached).toBe('1h')
  })
})

it('reads whatever a client may write', () => {
  for (const messages of [null, 1, 'x', {}, [null], [[]], [{ content: null }], [{ content: [null, 1, [], {}] }]]) {
    const { tokens, bytes } = boundOf({ messages, tools: messages, input: messages })
    expect(tokens).toBeGreaterThanOrEqual(bytes)
  }
  let deep: unknown = { type: 'image' }
  for (let level = 0; level < 1000; level++) deep = { content: [deep] }
  expect(boundOf({ messages: [deep] }).tokens).toBeGreaterThan(0)
})
