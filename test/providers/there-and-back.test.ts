import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cohereDialect } from '../../src/api/dialects/cohere.ts'
import { geminiDialect } from '../../src/api/dialects/gemini.ts'
import { messagesDialect } from '../../src/api/dialects/messages.ts'
import { responsesDialect } from '../../src/api/dialects/responses.ts'
import { joinBytes } from '../../src/lib/bytes/bytes.ts'
import type { ChatRequest } from '../../src/modes/chat.ts'
import type { ChatChunk, ChatCompletion, ChatDelta } from '../../src/modes/chat-completion.ts'
import type { ModelRequest } from '../../src/modes/mode.ts'
import type { Dialect } from '../../src/pipeline/translate/dialect.ts'
import { chunksOf } from '../../src/pipeline/translate/whole-as-stream.ts'
import type { Adapter, Outgoing } from '../../src/providers/provider.ts'
import { wholeBody } from '../../src/transport/whole-body.ts'
import { deploymentOf } from '../support/deployment-of.ts'

const RUNS = { numRuns: 150 }
const encoder = new TextEncoder()
const decoder = new TextDecoder()

type Json = Readonly<Record<string, unknown>>

/** The dialects that a provider speaks itself: what the gateway writes in one, its provider's adapter reads. */
const SPOKEN: Readonly<Record<string, readonly [Dialect, string]>> = {
  messages: [messagesDialect, 'anthropic/claude-sonnet-4-5'],
  gemini: [geminiDialect, 'gemini/gemini-3-flash-preview'],
  cohere: [cohereDialect, 'cohere/command-a'],
}
const PAIRS = Object.keys(SPOKEN).flatMap((one) => Object.keys(SPOKEN).map((other) => [one, other] as const))

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).filter((one) => one.trim() !== '')
const name = fc.stringMatching(/^[a-z_][a-z0-9_]{0,8}$/)
const call = fc.record({ id: fc.uuid(), name, args: fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }) })
const calls = fc.uniqueArray(call, { maxLength: 3, selector: ({ id }) => id })
const count = fc.integer({ min: 1, max: 100_000 })

/** A whole answer of a model. */
const answer = fc
  .record({ text: fc.option(words, { nil: '' }), called: calls, prompt: count, completion: count })
  .filter(({ text, called }) => text !== '' || called.length > 0)
  .map(({ text, called, prompt, completion }): ChatCompletion => {
    const tool_calls = called.map(({ id, name: given, args }) => ({
      id,
      type: 'function' as const,
      function: { name: given, arguments: JSON.stringify(args) },
    }))
    const message = {
      role: 'assistant' as const,
      content: text === '' ? null : text,
      ...(tool_calls.length > 0 ? { tool_calls } : {}),
    }
    return {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message, finish_reason: tool_calls.length > 0 ? 'tool_calls' : 'stop' }],
      usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
    }
  })

/** What has to be the same at the end of the way. */
function said({ choices, usage }: ChatCompletion) {
  const [choice] = choices
  return {
    content: choice?.message.content || null,
    tool_calls: (choice?.message.tool_calls ?? []).map(({ id, function: { name: called, arguments: given } }) => ({
      ...{ id, called },
      given: JSON.parse(given),
    })),
    finish: choice?.finish_reason,
    usage: [usage?.prompt_tokens, usage?.completion_tokens],
  }
}

const request = {
  model: 'm',
  contents: [{ role: 'user', parts: [] }],
  messages: [],
  input: 'x',
} as unknown as ModelRequest
const outgoing = { body: request, bytes: new Uint8Array(), streamed: true } as Outgoing

function spoken(dialect: string) {
  const [written, model] = SPOKEN[dialect] as readonly [Dialect, string]
  const deployment = deploymentOf(model)
  return { dialect: written, deployment, adapter: deployment.adapter('chat') as Adapter }
}

/** An answer written in a dialect, and read by the provider that speaks it. */
function through(dialect: string, completion: ChatCompletion): ChatCompletion {
  const { dialect: written, adapter } = spoken(dialect)
  const bytes = encoder.encode(JSON.stringify(written.fromChat(completion, request)))
  const { completion: read } = adapter.reply(bytes, {}, outgoing)
  if (!read) throw new TypeError(dialect)
  return read
}

/** The same as a stream, whose pieces end anywhere. */
function throughStream(dialect: string, completion: ChatCompletion, size: number): ChatCompletion {
  const { dialect: written, adapter } = spoken(dialect)
  const stream = written.stream(request)
  const bytes = joinBytes([...chunksOf(completion).map((chunk) => stream.write(chunk)), stream.close()])
  const reader = adapter.stream?.(outgoing, {})
  const chunks: ChatChunk[] = []
  for (let at = 0; at < bytes.byteLength; at += size) {
    for (const step of reader?.push(bytes.subarray(at, at + size)) ?? []) if (step.chunk) chunks.push(step.chunk)
  }
  return joined(chunks)
}

function joined(chunks: readonly ChatChunk[]): ChatCompletion {
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta as ChatDelta))
  const made = new Map<number, { id: string; name: string; arguments: string }>()
  for (const delta of deltas) {
    for (const { index, id, function: called } of delta.tool_calls ?? []) {
      const known = made.get(index) ?? { id: '', name: '', arguments: '' }
      made.set(index, {
        id: known.id || (id ?? ''),
        name: known.name || (called?.name ?? ''),
        arguments: known.arguments + (called?.arguments ?? ''),
      })
    }
  }
  const tool_calls = [...made.values()].map(({ id, ...called }) => ({
    id,
    type: 'function' as const,
    function: called,
  }))
  const content = deltas.map((delta) => delta.content ?? '').join('')
  const finish_reason = chunks.flatMap(({ choices }) => choices.map((one) => one.finish_reason)).findLast(Boolean)
  const usage = chunks.findLast((chunk) => chunk.usage)?.usage
  const message = { role: 'assistant' as const, content, ...(tool_calls.length > 0 ? { tool_calls } : {}) }
  return {
    ...{ id: '', object: 'chat.completion', created: 1, model: '' },
    choices: [{ index: 0, message, finish_reason: finish_reason ?? 'stop' }],
    ...(usage ? { usage } : {}),
  }
}

describe('an answer', () => {
  it.each(PAIRS)('is the same behind %s and %s: words, calls, ids, usage', (one, other) => {
    fc.assert(
      fc.property(answer, (completion) => {
        expect(said(through(other, through(one, completion)))).toEqual(said(completion))
      }),
      RUNS,
    )
  })

  it.each(Object.keys(SPOKEN))('is the same as a stream of %s', (dialect) => {
    fc.assert(
      fc.property(answer, fc.integer({ min: 3, max: 500 }), (completion, size) => {
        expect(said(throughStream(dialect, completion, size))).toEqual(said(completion))
      }),
      { numRuns: 80 },
    )
  })

  it('comes back as items of Responses, with thoughts and their signatures', () => {
    const thinking = fc.record({
      type: fc.constant('thinking' as const),
      thinking: words,
      signature: fc.base64String({ minLength: 4 }),
    })
    fc.assert(
      fc.property(answer, fc.option(thinking, { nil: undefined }), (completion, block) => {
        const [choice] = completion.choices
        const thought = block ? { reasoning_content: block.thinking, thinking_blocks: [block] } : {}
        const whole = { ...completion, choices: [{ ...choice, message: { ...choice?.message, ...thought } }] }
        const { output } = responsesDialect.fromChat(whole as ChatCompletion, request) as { output: Json[] }
        const input = [{ role: 'user', content: 'Hi' }, ...output]
        const { messages } = responsesDialect.toChat({ model: 'm', input } as unknown as ModelRequest)
        expect(messages[1]).toEqual({ ...choice?.message, ...thought })
      }),
      RUNS,
    )
  })
})

const base64 = fc.uint8Array({ minLength: 1, maxLength: 9 }).map((bytes) => btoa(String.fromCharCode(...bytes)))
const text = words.map((one) => ({ type: 'text', text: one }))

/** What the provider of a dialect is asked for a request in it that went by way of chat. */
async function askedAgain(dialect: string, body: Json): Promise<Json> {
  const { dialect: written, deployment, adapter } = spoken(dialect)
  const chat = written.toChat(body as unknown as ModelRequest)
  const call = { ...outgoing, body: chat as ChatRequest, streamed: false, translated: true as const }
  const { body: sent } = await adapter.request(call, deployment.connection)
  const whole = wholeBody(sent)
  return JSON.parse(typeof whole === 'string' ? whole : decoder.decode(whole))
}

describe('a request', () => {
  const image = fc.oneof(
    base64.map((data) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } })),
    fc.webUrl().map((url) => ({ type: 'image', source: { type: 'url', url } })),
  )
  const document = fc.oneof(
    base64.map((data) => ({ title: 'a.pdf', source: { type: 'base64', media_type: 'application/pdf', data } })),
    fc.webUrl().map((url) => ({ title: 'a.pdf', source: { type: 'url', url } })),
  )
  const block = fc.oneof(
    text,
    image,
    document.map((one) => ({ type: 'document', ...one })),
  )
  const result = fc.oneof(
    words,
    fc.tuple(text, image).map((both) => both as unknown),
  )
  const thinking = fc.record({
    type: fc.constant('thinking'),
    thinking: words,
    signature: fc.base64String({ minLength: 4 }),
  })

  it('of Messages is what it was behind chat: words, thoughts, calls, results, pictures, documents', async () => {
    const exchange = fc
      .tuple(
        fc.array(block, { minLength: 1, maxLength: 3 }),
        fc.option(thinking, { nil: undefined }),
        fc.option(text, { nil: undefined }),
        calls,
        result,
      )
      .filter(([, , shown, called]) => shown !== undefined || called.length > 0)
    await fc.assert(
      fc.asyncProperty(fc.array(exchange, { minLength: 1, maxLength: 3 }), async (exchanges) => {
        const turns: { role: string; content: unknown[] }[] = []
        let results: unknown[] = []
        for (const [blocks, thought, shown, called, content] of exchanges) {
          const uses = called.map(({ id, name: given, args }) => ({ type: 'tool_use', id, name: given, input: args }))
          turns.push({ role: 'user', content: [...results, ...blocks] })
          turns.push({
            role: 'assistant',
            content: [...(thought ? [thought] : []), ...(shown ? [shown] : []), ...uses],
          })
          results = called.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content }))
        }
        turns.push({ role: 'user', content: [...results, { type: 'text', text: 'On.' }] })
        const { messages, system } = await askedAgain('messages', {
          model: 'm',
          max_tokens: 9,
          system: 'Be brief.',
          messages: turns,
        })
        expect(messages).toEqual(JSON.parse(JSON.stringify(turns)))
        expect(system).toEqual([{ type: 'text', text: 'Be brief.' }])
      }),
      RUNS,
    )
  })

  it("of Cohere's chat is what it was behind chat: words, plans, calls, results, pictures", async () => {
    const picture = base64.map((data) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }))
    const exchange = fc.tuple(
      fc.array(fc.oneof(text, picture), { minLength: 1, maxLength: 3 }),
      fc.option(words, { nil: undefined }),
      words,
      calls,
    )
    await fc.assert(
      fc.asyncProperty(fc.array(exchange, { minLength: 1, maxLength: 3 }), async (exchanges) => {
        const messages = exchanges.flatMap(([content, plan, shown, called]): Json[] => {
          const tool_calls = called.map(({ id, name: given, args }) => ({
            ...{ id, type: 'function' },
            function: { name: given, arguments: JSON.stringify(args) },
          }))
          const says = tool_calls.length > 0 ? { tool_calls, ...(plan ? { tool_plan: plan } : {}) } : { content: shown }
          const results = called.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: shown }))
          return [{ role: 'user', content }, { role: 'assistant', ...says }, ...results]
        })
        expect((await askedAgain('cohere', { model: 'm', messages })).messages).toEqual(messages)
      }),
      RUNS,
    )
  })
})
