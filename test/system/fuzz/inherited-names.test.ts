import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestGateway } from '../../support/gateway.ts'
import { fuzzGateway, internalFailures } from './support/fuzz-gateway.ts'

let world: Awaited<ReturnType<typeof fuzzGateway>>
let gateway: TestGateway
beforeAll(async () => {
  world = await fuzzGateway()
  gateway = world.gateway
})
afterAll(() => world.close())

/** What every object of JavaScript has, whether anybody gave it one or not. */
const INHERITED = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '__defineGetter__']
/** JSON that cannot become text. */
const SPEECHLESS = '{"toString":1,"valueOf":1}'

const user = '{"role":"user","content":"hi"}'
const chat = (more: string, messages = user) => `{"messages":[${messages}]${more === '' ? '' : `,${more}`}}`
const part = (type: string, more = '') => chat('', `{"role":"user","content":[{"type":${type}${more}}]}`)

/** Every place where a word of the client's chooses what becomes of it. */
const bodies = (word: string): readonly (readonly [path: string, body: string])[] => [
  ['chat/completions', chat(`${word.startsWith('{') ? '"odd"' : word}:1`)],
  ['chat/completions', chat('', `{"role":${word},"content":"hi"}`)],
  ['chat/completions', part(word)],
  ['chat/completions', part('"input_audio"', `,"input_audio":{"data":"AAAA","format":${word}}`)],
  ['chat/completions', part('"image_url"', `,"image_url":{"url":${word}}`)],
  ['chat/completions', part('"file"', `,"file":{"file_id":"https://x.test/a.png","filename":${word}}`)],
  ...['reasoning_effort', 'service_tier', 'tool_choice', 'stop', 'thinking', 'response_format', 'metadata'].map(
    (field) =>
      ['chat/completions', chat(`"${field}":${word},"tools":[{"type":"function","function":{"name":"f"}}]`)] as const,
  ),
  ['chat/completions', chat(`"thinking":{"type":${word},"budget_tokens":${word}}`)],
  ['chat/completions', chat(`"response_format":{"type":${word}}`)],
  ['chat/completions', chat(`"tools":[{"type":${word}}]`)],
  ['chat/completions', chat(`"metadata":{"tags":[${word}]}`)],
  ['messages', `{"max_tokens":9,"messages":[{"role":"user","content":[{"type":${word}}]}]}`],
  ['messages', `{"max_tokens":9,"messages":[${user}],"tools":[{"name":"f"}],"tool_choice":{"type":${word}}}`],
  ['messages', `{"max_tokens":9,"messages":[${user}],"thinking":{"type":${word},"budget_tokens":${word}}}`],
  ['responses', `{"input":[{"type":${word}}]}`],
  ['responses', `{"input":[{"role":${word},"content":"hi"}]}`],
  ['responses', `{"input":[{"role":"user","content":[{"type":${word}}]}]}`],
  ['responses', `{"input":"hi","tools":[{"type":"function","name":"f"}],"tool_choice":${word}}`],
  ['responses', `{"input":"hi","text":{"format":{"type":${word}}}}`],
  ['responses', `{"input":"hi","reasoning":{"effort":${word}}}`],
  ['embeddings', `{"input":"hi","metadata":{"tags":[${word}]}}`],
  ['embeddings', `{"input":"hi",${word.startsWith('{') ? '"input_type"' : word}:${word}}`],
  ['audio/speech', `{"input":"hi","voice":"v","response_format":${word}}`],
  ['audio/speech', `{"input":"hi","voice":"v","enable_logging":${word},"bit_rate":${word},"language":${word}}`],
  ['rerank', `{"query":"q","documents":["d"],"priority":${word},"metadata":${word}}`],
]

/** One of every shape. */
const KINDS = [
  'echo',
  'anthropic',
  'bedrock',
  'cohere',
  'gemini',
  'mistral',
  'jina',
  'voyage',
  'elevenlabs',
  'deepgram',
]

describe.each([...INHERITED.map((name) => `"${name}"`), SPEECHLESS])('%s where a word is awaited', (word) => {
  it.each(KINDS)('is answered or clearly refused by %s', async (kind) => {
    const faults: string[] = []
    for (const [path, body] of bodies(word)) {
      const before = internalFailures(gateway).length
      const { status } = await gateway.fetch(`/v1/${path}`, {
        method: 'POST',
        body: body.replace('{', `{"model":"${kind}",`),
        headers: { 'content-type': 'application/json' },
      })
      if (status === 500 || internalFailures(gateway).length > before) faults.push(`${path} ${body}`)
    }
    expect(faults).toEqual([])
  })
})
