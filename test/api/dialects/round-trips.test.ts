import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { completionsDialect } from '../../../src/api/dialects/completions.ts'
import { openThinking, sealThinking } from '../../../src/api/dialects/responses/thinking.ts'
import { responsesDialect } from '../../../src/api/dialects/responses.ts'
import { GatewayError } from '../../../src/lib/errors.ts'
import type { ChatChunk, ChatCompletion } from '../../../src/modes/chat-completion.ts'
import type { ModelRequest } from '../../../src/modes/mode.ts'
import type { Dialect } from '../../../src/pipeline/translate/dialect.ts'

const decoder = new TextDecoder()
const RUNS = { numRuns: 400 }
const dialects: readonly (readonly [string, Dialect, readonly string[]])[] = [
  ['completions', completionsDialect, ['prompt', 'echo', 'best_of', 'logprobs', 'suffix', 'stop', 'n', 'tools']],
  [
    'responses',
    responsesDialect,
    [
      'input',
      'instructions',
      'tools',
      'tool_choice',
      'text',
      'reasoning',
      'include',
      'store',
      'top_logprobs',
      'stream',
    ],
  ],
]

const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom('function', 'auto', '', 0, true, null))
/** Items and parts that are nearly right, so that the translation is reached and not only the schema. */
const part = fc.record(
  {
    type: fc.constantFrom(
      'input_text',
      'input_image',
      'input_file',
      'output_text',
      'refusal',
      'input_audio',
      'toString',
    ),
    text: value,
    image_url: value,
    file_id: value,
    file_data: value,
  },
  { requiredKeys: [] },
)
const item = fc.record(
  {
    type: fc.constantFrom('message', 'function_call', 'function_call_output', 'reasoning', 'constructor', 'x'),
    role: fc.constantFrom('user', 'assistant', 'system', 'developer', '__proto__'),
    content: fc.oneof(value, fc.array(part)),
    call_id: value,
    name: value,
    arguments: value,
    output: fc.oneof(value, fc.array(part)),
    summary: value,
    encrypted_content: fc.oneof(
      value,
      fc.string().map((text) => `thinking:${text}`),
    ),
  },
  { requiredKeys: [] },
)
const tool = fc.record({ type: fc.constantFrom('function', 'mcp', 'web_search'), name: value, server: value })
const special: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  input: fc.oneof(fc.string(), fc.array(item)),
  prompt: fc.oneof(fc.string(), fc.array(fc.string())),
  tools: fc.array(tool),
  tool_choice: fc.oneof(tool, fc.constantFrom('auto', 'none')),
  text: fc.record({ format: fc.record({ type: fc.constantFrom('text', 'json_schema', 'json_object', 'x') }) }),
}
/** What is required, and a few fields beside it: more of them would all be refused for the first wrong one. */
const bodyOf = ([required = '', ...fields]: readonly string[]) =>
  fc.subarray([...fields], { maxLength: 3 }).chain((chosen) =>
    fc.record({
      model: fc.constant('m'),
      [required]: special[required] ?? value,
      ...Object.fromEntries(chosen.map((name) => [name, fc.oneof(value, special[name] ?? value)])),
    }),
  )

describe.each(dialects)('any body of %s', (_, dialect, fields) => {
  it('becomes chat or is refused with a 400 that names a field', () => {
    let translated = 0
    fc.assert(
      fc.property(bodyOf(fields), (body) => {
        const parsed = dialect.schema().safeParse(body)
        if (!parsed.success) return
        try {
          const chat = dialect.toChat(body as ModelRequest)
          expect(chat.model).toBe('m')
          expect(chat.messages.length).toBeGreaterThan(0)
          expect(chat).not.toHaveProperty('input')
          translated += 1
        } catch (error) {
          expect(error).toBeInstanceOf(GatewayError)
          expect(error).toMatchObject({ status: 400, details: { param: expect.any(String) } })
        }
      }),
      RUNS,
    )
    expect(translated).toBeGreaterThan(5)
  })
})

const delta = fc.record(
  {
    role: fc.constant('assistant'),
    content: fc.oneof(fc.string(), fc.constant(null)),
    refusal: fc.oneof(fc.string(), fc.constant(null)),
    reasoning_content: fc.string(),
    thinking_blocks: fc.array(
      fc.record({ type: fc.constant('thinking'), thinking: fc.string(), signature: fc.string() }),
    ),
    tool_calls: fc.array(
      fc.record(
        {
          index: fc.nat(3),
          id: fc.string({ maxLength: 2 }),
          function: fc.record({ name: fc.string({ maxLength: 3 }), arguments: fc.string() }, { requiredKeys: [] }),
        },
        { requiredKeys: ['index'] },
      ),
    ),
  },
  { requiredKeys: [] },
)
const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk' as const, created: 1_760_000_000, model: 'served' }
const chunks = fc
  .tuple(fc.array(delta), fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter'), fc.boolean())
  .map(([deltas, finish_reason, counted]) => [
    { ...head, choices: [], prompt_filter_results: [] },
    ...deltas.map((one) => ({ ...head, choices: [{ index: 0, delta: one, finish_reason: null }] })),
    { ...head, choices: [{ index: 0, delta: {}, finish_reason }] },
    ...(counted ? [{ ...head, choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } }] : []),
  ]) as fc.Arbitrary<ChatChunk[]>

const request = { model: 'm', input: 'x', stream: true } as ModelRequest

interface Event {
  readonly type: string
  readonly sequence_number: number
  readonly output_index?: number
  readonly item?: { readonly id: string; readonly status: string }
  readonly response?: { readonly id: string; readonly status: string; readonly output: readonly object[] }
}

function eventsIn(pieces: readonly Uint8Array[]): Event[] {
  const text = pieces.map((piece) => decoder.decode(piece)).join('')
  const events = text.split('\n\n').filter(Boolean)
  return events.map((event) => {
    const [, name, data] = /^event: (.+)\ndata: (.+)$/.exec(event) ?? []
    const parsed = JSON.parse(data ?? '') as Event
    expect(parsed.type).toBe(name)
    return parsed
  })
}

it('a choice that is none does not end a stream of text', () => {
  const words = completionsDialect.stream({ model: 'm', prompt: 'x', stream: true } as ModelRequest)
  const choices = [null, { index: 0, delta: { content: 'Hi' }, finish_reason: null }] as unknown as ChatChunk['choices']
  expect(decoder.decode(words.write({ ...head, choices }))).toContain('"text":"Hi"')
})

describe('any stream of chunks', () => {
  it('becomes a valid stream of Responses events', () => {
    fc.assert(
      fc.property(chunks, (list) => {
        const words = responsesDialect.stream(request)
        const events = eventsIn([...list.map((chunk) => words.write(chunk)), words.close()])
        expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index))
        expect(events.slice(0, 2).map(({ type }) => type)).toEqual(['response.created', 'response.in_progress'])
        const terminal = events.filter(({ type }) => /^response\.(completed|incomplete|failed)$/.test(type))
        expect(terminal).toHaveLength(1)
        expect(events.at(-1)).toBe(terminal[0])

        const added = events.filter(({ type }) => type === 'response.output_item.added')
        const done = events.filter(({ type }) => type === 'response.output_item.done')
        expect(added.map(({ output_index }) => output_index)).toEqual(added.map((_, index) => index))
        expect(done.map(({ item: one }) => one?.id).sort()).toEqual(added.map(({ item: one }) => one?.id).sort())
        const final = done.toSorted((a, b) => (a.output_index ?? 0) - (b.output_index ?? 0)).map(({ item: one }) => one)
        expect(terminal[0]?.response?.output).toEqual(final)
        for (const event of events.filter(({ output_index }) => output_index !== undefined)) {
          const opened = added.find(({ output_index }) => output_index === event.output_index)
          expect(event.sequence_number).toBeGreaterThanOrEqual(opened?.sequence_number ?? Number.POSITIVE_INFINITY)
        }
        expect(said(terminal[0]?.response?.output ?? [])).toEqual(saidInChat(list))
      }),
      RUNS,
    )
  })

  it('may end in a failure at any place, with one last word and the error event behind it', () => {
    const failure = new GatewayError('upstream_truncated', 'Cut.')
    fc.assert(
      fc.property(chunks, fc.nat(10), (list, cut) => {
        const words = responsesDialect.stream(request)
        const pieces = list.slice(0, cut).map((chunk) => words.write(chunk))
        const events = eventsIn([...pieces, words.fail?.(failure) ?? new Uint8Array()])
        expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index))
        expect(events.at(-2)).toMatchObject({ type: 'response.failed', response: { id: events[0]?.response?.id } })
        expect(events.at(-1)).toMatchObject({ type: 'error' })
        expect(events.filter(({ type }) => /^response\.(completed|incomplete|failed)$/.test(type))).toHaveLength(1)
      }),
      RUNS,
    )
  })

  it('becomes text chunks that say the same, and one [DONE]', () => {
    fc.assert(
      fc.property(chunks, fc.boolean(), (list, include_usage) => {
        const words = completionsDialect.stream({ model: 'm', stream_options: { include_usage } })
        const text = [...list.map((chunk) => words.write(chunk)), words.close()].map((piece) => decoder.decode(piece))
        const data = text.join('').split('\n\n').filter(Boolean)
        expect(data.at(-1)).toBe('data: [DONE]')
        const events = data.slice(0, -1).map((one) => JSON.parse(one.replace('data: ', '')))
        expect(events.filter(({ choices }) => choices[0]?.finish_reason)).toHaveLength(1)
        const counted = include_usage && list.some(({ usage }) => usage)
        expect(events.filter(({ usage }) => usage)).toHaveLength(counted ? 1 : 0)
      }),
      RUNS,
    )
  })

  it('and any whole answer are read, whatever is missing in them', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), delta, (odd, message) => {
        for (const choices of [odd, [odd], [{ message: odd }], [{ message, finish_reason: odd }]]) {
          const completion = { ...head, created: odd, choices } as unknown as ChatCompletion
          responsesDialect.fromChat(completion, request)
          completionsDialect.fromChat(completion, { model: 'm' })
        }
      }),
      RUNS,
    )
  })
})

/** Words, thoughts and arguments in the order of their kind. */
function said(output: readonly object[]): object {
  const parts = output as readonly Record<string, { text?: string; refusal?: string; type: string }[]>[]
  const texts = parts.flatMap(({ content }) => content ?? [])
  return {
    text: texts.map(({ text }) => text ?? '').join(''),
    refusal: texts.map(({ refusal }) => refusal ?? '').join(''),
    thought: parts
      .flatMap(({ summary }) => summary ?? [])
      .map(({ text }) => text)
      .join(''),
    letters: lettersOf(parts.map(({ arguments: text }) => text ?? '').join('')),
  }
}

function saidInChat(list: readonly ChatChunk[]): object {
  const deltas = list.flatMap(({ choices }) => choices.map((choice) => choice.delta))
  const fragments = deltas.flatMap(({ tool_calls }) => tool_calls ?? []).map((call) => call.function?.arguments ?? '')
  return {
    text: deltas.map(({ content }) => content ?? '').join(''),
    refusal: deltas.map(({ refusal }) => refusal ?? '').join(''),
    thought: deltas.map(({ reasoning_content }) => reasoning_content ?? '').join(''),
    letters: lettersOf(fragments.join('')),
  }
}

/** Parallel calls regroup their fragments; nothing is lost or doubled. A call without arguments has an empty object. */
const lettersOf = (text: string) => [...text.replace(/[{}]/g, '')].sort().join('')

describe('signed reasoning', () => {
  it('comes back as it went out, whatever letters are in it', () => {
    const blocks = [
      { type: 'thinking' as const, thinking: 'Grüße 🙂 \ud800', signature: 'sig==' },
      { type: 'redacted_thinking' as const, data: 'x' },
    ]
    expect(openThinking(sealThinking(blocks))).toEqual(blocks)
    const sealed = { type: 'reasoning', summary: [{ text: 'Grüße' }], encrypted_content: sealThinking(blocks) }
    const chat = responsesDialect.toChat({
      model: 'm',
      input: [sealed, { role: 'assistant', content: 'Hi' }],
    } as ModelRequest)
    expect(chat.messages[0]).toEqual({
      role: 'assistant',
      content: 'Hi',
      reasoning_content: 'Grüße',
      thinking_blocks: blocks,
    })
  })

  it.each([
    [['reasoning.encrypted_content'], expect.any(String)],
    [undefined, undefined],
  ])('that nobody has signed has a seal if it is asked for, include: %j', (include, seal) => {
    const message = { role: 'assistant', reasoning_content: 'Hm', content: 'Hi' }
    const completion = { id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] }
    const asked = { model: 'm', input: 'Hi', include } as ModelRequest
    const answer = responsesDialect.fromChat(completion as unknown as ChatCompletion, asked)
    const { output } = answer as { output: { encrypted_content?: string }[] }
    expect(output[0]?.encrypted_content).toEqual(seal)
    expect(responsesDialect.toChat({ model: 'm', input: output } as ModelRequest).messages[0]).toEqual(message)
  })

  it('of another maker is left to it', () => {
    for (const foreign of ['gAAAAB-x_y', 'thinking:!', 'thinking:bnVsbA==', 7, undefined]) {
      expect(openThinking(foreign)).toBeUndefined()
    }
  })
})
