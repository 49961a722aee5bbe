import { describe, expect, it } from 'vitest'
import { chatDialect } from '../../../src/api/dialects/chat.ts'
import { completionsDialect } from '../../../src/api/dialects/completions.ts'
import { countTokensDialect, messagesDialect } from '../../../src/api/dialects/messages.ts'
import { responsesDialect } from '../../../src/api/dialects/responses.ts'
import { membersOf } from '../../../src/lib/json/json-members.ts'
import { chat } from '../../../src/modes/chat.ts'
import { completion } from '../../../src/modes/completion.ts'
import { embedding } from '../../../src/modes/embedding.ts'
import { asMode, type Mode } from '../../../src/modes/mode.ts'
import type { CallInput } from '../../../src/pipeline/call-input.ts'
import { type Prompted, withPrompt } from '../../../src/pipeline/prompt/with-prompt.ts'
import { parse } from '../../../src/pipeline/request/parse.ts'
import type { PipelineServices } from '../../../src/pipeline/services.ts'
import type { Dialect } from '../../../src/pipeline/translate/dialect.ts'
import type { Prompt } from '../../../src/routing/prompts/prompt.ts'
import { type PromptContent, promptContent, templateOf } from '../../../src/routing/prompts/template.ts'
import type { TelemetryEvent } from '../../../src/telemetry/events.ts'
import { seededRandom } from '../../support/random.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const ENDPOINTS = {
  chat: { mode: asMode(chat), dialect: chatDialect },
  completions: { mode: asMode(completion), dialect: completionsDialect },
  messages: { mode: asMode(chat), dialect: messagesDialect },
  count_tokens: { mode: asMode(chat), dialect: countTokensDialect },
  responses: { mode: asMode(chat), dialect: responsesDialect },
} as const
type Name = keyof typeof ENDPOINTS

/** Renders `content`, as the newest version of the prompt `p`, into a call with these bytes. */
function prompted(
  { mode, dialect }: { readonly mode: Mode; readonly dialect?: Dialect },
  body: string | Uint8Array,
  content: object,
  more: { readonly policy?: string; readonly mostBytes?: number } = {},
) {
  const template = templateOf(promptContent().parse(content) as PromptContent)
  const prompt: Prompt = { key: 'p', createdAt: '', labels: { beta: 1 }, latest: 1, versions: new Map([[1, template]]) }
  const events: TelemetryEvent[] = []
  let held = 0
  const services = {
    config: { general_settings: { max_json_bytes: more.mostBytes ?? 33_554_432 } },
    registry: { prompts: new Map([['p', prompt]]), resolve: () => ({ policy: { promptRef: more.policy } }) },
    promptVersions: { held: () => undefined, load: async () => undefined },
    telemetry: { emit: (event: TelemetryEvent) => events.push(event) },
  } as unknown as PipelineServices
  const bytes = typeof body === 'string' ? encoder.encode(body) : body
  const input = {
    endpoint: { path: '/', mode, ...(dialect ? { dialect } : {}) },
    bytes,
    footprint: { add: (more: number) => (held += more), release() {} },
  } as unknown as CallInput
  const parsed = parse(input)
  if (parsed.error) throw parsed.error
  const result = withPrompt(services, input, { request: parsed.request, bytes }) as Prompted | undefined
  return { result, events, bytes, held: () => held }
}

/** The request that would be run, as a parser reads it. */
function sent(name: Name, body: string | Uint8Array, content: object, more = {}) {
  const { result, held } = prompted(ENDPOINTS[name], body, content, more)
  if (!result || result.error) throw result?.error ?? new Error('nothing was rendered')
  expect(held()).toBe(result.bytes.byteLength)
  const whole = JSON.parse(decoder.decode(result.bytes))
  // What the pipeline reads is what is sent.
  expect(JSON.parse(JSON.stringify(result.request))).toEqual(whole)
  return { whole, bytes: result.bytes }
}

const SAY = (text: string) => ({ messages: [{ role: 'system', content: text }] })
const META = '"metadata":{"prompt_ref":"p"}'

const random = seededRandom(20_261_122)
const ODD = [
  '{{a}}',
  '{{',
  '}}',
  '\\',
  '\\{{a}}',
  '"',
  '\n',
  '\0',
  '\u001f',
  '\u2028',
  '\ud800',
  '\udc00',
  '😀',
  '</',
  'ü',
  '$&',
  '$1',
  '{"b":1}',
  '\u007f',
  ' ',
  '',
]

function oddText(): string {
  return Array.from({ length: random.integer(0, 12) }, () => random.pick(ODD)).join('')
}

/** JSON of a value, with escapes and spaces that no encoder would write. */
function oddlyWritten(value: unknown): string {
  const text = JSON.stringify(value)
  return random.integer(0, 1) === 0 ? text : text.replaceAll('a', '\\u0061')
}

describe('a prompt in a call', () => {
  it.each(Object.keys(ENDPOINTS) as Name[])('%s: values hold anything and are never template', (name) => {
    for (let turn = 0; turn < 300; turn++) {
      const values = { a: oddText(), b: oddText(), n: random.integer(-5, 5), list: [oddText(), { c: oddText() }] }
      const content = {
        messages: [
          { role: 'system', content: 'S {{a}}{{b}} \\{{a}}' },
          {
            role: 'user',
            content: [
              { type: 'text', text: '{{n}}' },
              { type: 'text', text: 'L {{ list }}' },
            ],
          },
          { role: 'assistant', content: 'A {{b}}' },
        ],
        variables: { a: { type: 'string' }, b: { type: 'string' }, n: { type: 'integer' }, list: { type: 'array' } },
      }
      const texts = [
        `S ${values.a}${values.b} {{a}}`,
        `${values.n}`,
        `L ${JSON.stringify(values.list)}`,
        `A ${values.b}`,
      ]
      const own = oddText()
      const rest = { seed: 7, stop: [oddText()], unknown: { x: oddText() } }
      const body = `{"model":"m",${OWN[name](own)},"metadata":${oddlyWritten({ prompt_ref: 'p', prompt_variables: values, mine: own })},${JSON.stringify(rest).slice(1)}`
      const { whole } = sent(name, body, content)
      expect(whole).toEqual({ model: 'm', ...EXPECTED[name](texts, own), metadata: { mine: own }, ...rest })
    }
  })

  const OWN: Readonly<Record<Name, (own: string) => string>> = {
    chat: (own) => `"messages": [ {"role":"user","content":${oddlyWritten(own)}} ]`,
    completions: (own) => `"prompt":${oddlyWritten(own)}`,
    messages: (own) => `"system":${oddlyWritten(own)},"messages":[{"role":"user","content":${oddlyWritten(own)}}]`,
    count_tokens: (own) => `"messages":[{"role":"user","content":${oddlyWritten(own)}}]`,
    responses: (own) => `"input":${oddlyWritten(own)}`,
  }
  const parts = (texts: readonly (string | undefined)[], type = 'text') => texts.map((text) => ({ type, text }))
  const EXPECTED: Readonly<Record<Name, (texts: readonly string[], own: string) => object>> = {
    chat: ([s, ...texts], own) => ({
      messages: [
        { role: 'system', content: s },
        { role: 'user', content: parts(texts.slice(0, 2)) },
        { role: 'assistant', content: texts[2] },
        { role: 'user', content: own },
      ],
    }),
    completions: ([s, n, l, a], own) => ({ prompt: `${s}\n\n${n}${l}\n\n${a}\n\n${own}` }),
    messages: ([s, ...texts], own) => ({
      system: own === '' ? s : parts([s, own]),
      messages: [
        { role: 'user', content: parts(texts.slice(0, 2)) },
        { role: 'assistant', content: texts[2] },
        { role: 'user', content: own },
      ],
    }),
    count_tokens: ([s, ...texts], own) => ({
      system: s,
      messages: [
        { role: 'user', content: parts(texts.slice(0, 2)) },
        { role: 'assistant', content: texts[2] },
        { role: 'user', content: own },
      ],
    }),
    responses: ([s, ...texts], own) => ({
      instructions: s,
      input: [
        { type: 'message', role: 'user', content: parts(texts.slice(0, 2), 'input_text') },
        { type: 'message', role: 'assistant', content: texts[2] },
        { type: 'message', role: 'user', content: own },
      ],
    }),
  }

  it('leaves every other member as the client wrote it, to the byte', () => {
    const tail = '"seed" : 12345678901234567890, "temperature":1.0,\t"x":[ 1e2 ,"\\u0061"] ,"top_p":0.10'
    const own = '[ {"role":"user","content":"\\u0048i","big":12345678901234567890} ]'
    const body = `{ "model":"m","messages":${own},${META}, ${tail}}\n`
    const { bytes } = sent('chat', body, SAY('S'))
    const messages = `[{"role":"system","content":"S"},${own.slice(1)}`
    expect(decoder.decode(bytes)).toBe(`{ "model":"m","messages":${messages},${tail}}\n`)
  })

  it('of a body of megabytes, whose members nobody builds, and with a value of a megabyte', () => {
    const long = '😀"\\{{a}}'.repeat(120_000)
    const turns = Array.from({ length: 2000 }, (_, index) => ({ role: 'user', content: `${index} ${'y'.repeat(100)}` }))
    const body = JSON.stringify({
      model: 'm',
      messages: turns,
      metadata: { prompt_ref: 'p:beta', prompt_variables: { a: long } },
      tail: 'z',
    })
    const { whole } = sent('chat', body, SAY('{{a}}'))
    expect(whole).toEqual({ model: 'm', messages: [{ role: 'system', content: long }, ...turns], tail: 'z' })
  })

  it('where members are repeated or written with escapes, what was read of them counts', () => {
    const twice =
      '{"model":"m","messages":[{"role":"user","content":"no"}],"messages":[{"role":"user","content":"yes"}],'
    const escaped = '{"model":"m","\\u006dessages":[{"role":"user","content":"yes"}],'
    for (const start of [twice, escaped]) {
      const { whole, bytes } = sent('chat', `${start}${META},"x":1}`, SAY('S'))
      const messages = [
        { role: 'system', content: 'S' },
        { role: 'user', content: 'yes' },
      ]
      expect(whole).toEqual({ model: 'm', messages, x: 1 })
      expect(membersOf(bytes)?.length).toBe(3)
    }
  })

  const USER = '"messages":[{"role":"user","content":"Hi"}]'
  it.each<[string, Name, string, object, object]>([
    [
      'a system of blocks',
      'messages',
      `"system":[{"type":"text","text":"own","cache_control":{"type":"ephemeral"}}],${USER}`,
      {
        messages: [
          { role: 'system', content: 'a' },
          { role: 'developer', content: 'b' },
        ],
      },
      {
        system: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
          { type: 'text', text: 'own', cache_control: { type: 'ephemeral' } },
        ],
        messages: [{ role: 'user', content: 'Hi' }],
      },
    ],
    [
      'no system of its own, null',
      'messages',
      `"system":null,${USER}`,
      { messages: [{ role: 'user', content: 'a' }] },
      {
        system: null,
        messages: [
          { role: 'user', content: 'a' },
          { role: 'user', content: 'Hi' },
        ],
      },
    ],
    [
      'an empty system, and a text of the prompt that comes out empty',
      'messages',
      `"system":"",${USER}`,
      {
        messages: [...SAY('S').messages, ...SAY('{{none}}').messages],
        variables: { none: { type: 'string', default: '' } },
      },
      { system: 'S', messages: [{ role: 'user', content: 'Hi' }] },
    ],
    [
      'empty instructions, which are none',
      'responses',
      '"instructions":"","input":[]',
      SAY('S'),
      { instructions: 'S', input: [] },
    ],
    [
      'instructions of its own: the prompt becomes items',
      'responses',
      '"instructions":"own","input":[]',
      SAY('S'),
      { instructions: 'own', input: [{ type: 'message', role: 'system', content: 'S' }] },
    ],
    [
      'no input',
      'responses',
      '"previous_response_id":"resp_1"',
      {
        messages: [
          { role: 'system', content: 'S' },
          { role: 'system', content: 'T' },
        ],
      },
      {
        previous_response_id: 'resp_1',
        input: [
          { type: 'message', role: 'system', content: 'S' },
          { type: 'message', role: 'system', content: 'T' },
        ],
      },
    ],
    [
      'a list of prompts',
      'completions',
      '"prompt":["a","b"]',
      {
        messages: [
          { role: 'system', content: 'S' },
          { role: 'user', content: 'T' },
        ],
      },
      { prompt: ['S\n\nT\n', 'a', 'b'] },
    ],
  ])('with %s', (_what, name, own, content, expected) => {
    expect(sent(name, `{"model":"m",${own},${META}}`, content).whole).toEqual({ model: 'm', ...expected })
  })

  it('a group names one in its policy for the calls that name none', () => {
    const { whole } = sent('chat', `{"model":"m",${USER},"metadata":{"prompt_variables":{"a":"x"}}}`, SAY('{{a}}'), {
      policy: 'p@1',
    })
    expect(whole.messages[0]).toEqual({ role: 'system', content: 'x' })
    expect(whole).not.toHaveProperty('metadata')
    const own = prompted(ENDPOINTS.chat, `{"model":"m",${USER},${META}}`, SAY('S'), { policy: 'other' })
    expect(own.result).toMatchObject({ prompt: 'p@1' })
    // Embeddings of the same group have no messages.
    const other = prompted({ mode: asMode(embedding) }, '{"model":"m","input":"x"}', SAY('S'), { policy: 'p' })
    expect(other.result).toBeUndefined()
  })

  const refused = (body: string, content: object = SAY('{{a}}'), more = {}, endpoint: object = ENDPOINTS.chat) => {
    const { result, events } = prompted(endpoint as (typeof ENDPOINTS)['chat'], body, content, more)
    const { failure, details } = result?.error ?? {}
    return [
      failure,
      details?.param,
      details?.code,
      ...events.flatMap((event) => ('status' in event ? event.status : [])),
    ]
  }
  const naming = (ref: unknown, variables?: unknown) =>
    `{"model":"m",${USER},"metadata":${JSON.stringify({ prompt_ref: ref, prompt_variables: variables })}}`

  it.each(['q', 'p@2', 'p@0', 'p@01', 'p:alpha', 'p:beta@1', '', 'p:', 'P', '__proto__', 'p:__proto__', 'constructor'])(
    'the prompt %j is not there',
    (ref) => {
      expect(refused(naming(ref, { a: 'x' }))).toEqual([
        'invalid_request',
        'metadata.prompt_ref',
        'prompt_not_found',
        'not_found',
      ])
    },
  )

  it.each<[string, object | undefined]>([
    ['a', undefined],
    ['a', {}],
    ['a', { a: 1 }],
    ['b', { a: 'x', b: 'y' }],
    ['toString', { a: 'x', toString: 'y' }],
  ])('names the variable %s that is missing, wrong or none', (name, variables) => {
    const param = `metadata.prompt_variables.${name}`
    expect(refused(naming('p', variables))).toEqual([
      'invalid_request',
      param,
      'invalid_prompt_variables',
      'invalid_variables',
    ])
  })

  it('refuses variables without a prompt, prompts elsewhere, and what would be too large before it is built', () => {
    expect(refused(`{"model":"m",${USER},"metadata":{"prompt_variables":{}}}`)).toEqual([
      'invalid_request',
      'metadata.prompt_variables',
      'invalid_prompt_variables',
    ])
    const elsewhere = { mode: asMode(embedding) }
    expect(refused(`{"model":"m","input":"x",${META}}`, SAY('S'), {}, elsewhere)).toEqual([
      'invalid_request',
      'metadata.prompt_ref',
      'unsupported_parameter',
    ])
    // A thousand million characters.
    const often = SAY('{{a}}'.repeat(20_000))
    expect(refused(naming('p', { a: 'x'.repeat(50_000) }), often)).toEqual([
      'payload_too_large',
      'metadata.prompt_variables',
      undefined,
      'invalid_variables',
    ])
  })

  it('a call without one is not touched', () => {
    for (const metadata of ['', ',"metadata":null', ',"metadata":{"prompt_ref":null,"tags":["a"]}']) {
      const { result, events } = prompted(ENDPOINTS.chat, `{"model":"m",${USER}${metadata}}`, SAY('S'))
      expect([result, events]).toEqual([undefined, []])
    }
  })
})
