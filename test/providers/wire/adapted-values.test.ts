import { describe, expect, it } from 'vitest'
import { chatDialect } from '../../../src/api/dialects/chat.ts'
import { asRecord } from '../../../src/lib/json/lenient.ts'
import { chat, chatRequest } from '../../../src/modes/chat.ts'
import { asMode, type ModelRequest } from '../../../src/modes/mode.ts'
import { translatorOf } from '../../../src/pipeline/translate/translator.ts'
import type { Notes } from '../../../src/providers/provider.ts'
import { inCommonWords, THINKING } from '../../../src/providers/wire/fitting/vendor-words.ts'
import { wholeBody } from '../../../src/transport/whole-body.ts'
import { deploymentOf } from '../../support/deployment-of.ts'

const CLAUDE = 'anthropic/claude-sonnet-4-5'
const NOVA = 'bedrock/amazon.nova-pro-v1:0'
const LLAMA = 'bedrock/meta.llama4-maverick-17b-instruct-v1:0'
const GEMINI = 'gemini/gemini-2.5-pro'
const COHERE = 'cohere/command-a-03-2025'

const messages = [{ role: 'user', content: 'Hi' }]

/** What a provider is asked for a chat request, and what it is not told. */
async function asked(model: string, fields: object) {
  const body = { model: 'm', messages, ...fields } as ModelRequest
  const deployment = deploymentOf(model)
  const translator = translatorOf(deployment, asMode(chat), chatDialect)
  const notes: Notes = { dropped: undefined }
  const bytes = new TextEncoder().encode(JSON.stringify(body))
  const outgoing = { body, bytes, streamed: false, notes }
  const whole = wholeBody((await translator?.request(outgoing, deployment.connection))?.body ?? '{}')
  const sent = JSON.parse(typeof whole === 'string' ? whole : new TextDecoder().decode(whole))
  return { sent, dropped: [...(notes.dropped ?? [])] }
}

describe('a temperature beyond the range of a vendor', () => {
  it.each([
    [CLAUDE, (sent: Record<string, unknown>) => sent.temperature],
    [NOVA, (sent: Record<string, unknown>) => asRecord(sent.inferenceConfig).temperature],
    [COHERE, (sent: Record<string, unknown>) => sent.temperature],
  ])('becomes its highest at %s', async (model, read) => {
    const hot = await asked(model, { temperature: 1.7 })
    expect([read(hot.sent), hot.dropped]).toEqual([1, ['temperature']])
    const mild = await asked(model, { temperature: 0.7 })
    expect([read(mild.sent), mild.dropped]).toEqual([0.7, []])
    expect(read((await asked(model, {})).sent)).toBeUndefined()
  })

  it('is told Gemini, whose range is as wide', async () => {
    const { sent, dropped } = await asked(GEMINI, { temperature: 1.7 })
    expect([sent.generationConfig, dropped]).toEqual([{ temperature: 1.7 }, []])
  })
})

describe('more stop sequences than a vendor takes', () => {
  const stop = ['a', 'b', 'c', 'd', 'e', 'f']
  it.each([
    [NOVA, 4, (sent: Record<string, unknown>) => asRecord(sent.inferenceConfig).stopSequences],
    [GEMINI, 5, (sent: Record<string, unknown>) => asRecord(sent.generationConfig).stopSequences],
    [COHERE, 5, (sent: Record<string, unknown>) => sent.stop_sequences],
  ])('are cut at %s to %i', async (model, most, read) => {
    const many = await asked(model, { stop })
    expect([read(many.sent), many.dropped]).toEqual([stop.slice(0, most), ['stop']])
    const few = await asked(model, { stop: 'a' })
    expect([read(few.sent), few.dropped]).toEqual([['a'], []])
  })

  it.each([[CLAUDE], [LLAMA]])('all go to %s', async (model) => {
    const { sent, dropped } = await asked(model, { stop })
    expect([sent.stop_sequences ?? sent.inferenceConfig.stopSequences, dropped]).toEqual([stop, []])
  })
})

describe('tools that are allowed', () => {
  const tools = ['read', 'write'].map((name) => ({ type: 'function', function: { name, parameters: {} } }))
  const allow = (mode: string, ...names: string[]) => ({
    tools,
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: { mode, tools: names.map((name) => ({ type: 'function', function: { name } })) },
    },
  })
  const readers = [
    [CLAUDE, (sent: never) => [namesIn(asRecord(sent).tools), asRecord(sent).tool_choice], { type: 'any' }],
    [
      NOVA,
      (sent: never) => {
        const { tools, toolChoice } = asRecord(asRecord(sent).toolConfig)
        return [namesIn(tools), toolChoice]
      },
      { any: {} },
    ],
    [COHERE, (sent: never) => [namesIn(asRecord(sent).tools), asRecord(sent).tool_choice], 'REQUIRED'],
  ] as const
  const namesIn = (list: unknown) =>
    (list as Record<string, { name?: string }>[]).map((tool) => tool.name ?? (tool.toolSpec ?? tool.function)?.name)

  it.each(readers)('are the only ones that %s is offered', async (model, read, required) => {
    expect(read((await asked(model, allow('required', 'write'))).sent as never)).toEqual([['write'], required])
    const [names, choice] = read((await asked(model, allow('auto', 'read', 'write'))).sent as never)
    expect(names).toEqual(['read', 'write'])
    expect([undefined, 'auto', 'AUTO']).toContain(asRecord(choice).type ?? choice)
    await expect(asked(model, allow('auto', 'other'))).rejects.toThrow("'tool_choice' cannot be expressed")
  })
})

describe('a conversation', () => {
  const texts = ({ system, systemInstruction, ...sent }: Record<string, unknown>) =>
    JSON.stringify([system, systemInstruction, sent.messages, sent.contents])

  it.each([CLAUDE, NOVA, GEMINI, COHERE])('of nothing but instructions has a turn of the user at %s', async (model) => {
    const { sent } = await asked(model, {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: 'Say hi.' },
      ],
    })
    const turns = (sent.messages ?? sent.contents) as { role: string }[]
    const users = turns.filter(({ role }) => role === 'user')
    expect(users).toHaveLength(1)
    expect(JSON.stringify(users)).toContain('Say hi.')
    expect(JSON.stringify(users)).not.toContain('Be brief.')
    expect(texts(sent)).toContain('Be brief.')
  })

  it.each([CLAUDE, NOVA, GEMINI, COHERE])('of named participants says at %s who speaks', async (model) => {
    const { sent, dropped } = await asked(model, {
      messages: [
        { role: 'user', name: 'alice', content: 'Tea?' },
        { role: 'assistant', name: 'host', content: 'Who else?' },
        { role: 'user', name: 'bob', content: [{ type: 'text', text: 'Me.' }] },
      ],
    })
    expect(texts(sent)).toContain('alice: Tea?')
    expect(texts(sent)).toContain('bob: ')
    expect(texts(sent)).not.toContain('host')
    expect(texts(sent)).not.toContain('"name"')
    expect(dropped).toEqual(['messages.name'])
  })

  it.each([
    [CLAUDE, ['messages.image_url.detail']],
    [NOVA, ['messages.image_url.detail']],
    [GEMINI, ['messages.image_url.detail']],
    [COHERE, []],
  ])('with the detail of an image at %s leaves out %o', async (model, hints) => {
    const picture = (detail?: string) => ({
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=', detail } }] },
      ],
    })
    expect((await asked(model, picture('low'))).dropped).toEqual(hints)
    expect((await asked(model, picture('auto'))).dropped).toEqual([])
    expect((await asked(model, picture())).dropped).toEqual([])
  })
})

describe('a tool of type function', () => {
  const issue = (tool: object) => {
    const result = chatRequest().safeParse({ model: 'm', messages, tools: [tool] })
    return result.success ? undefined : result.error.issues[0]?.path.join('.')
  }

  it.each([
    [{ type: 'function' }, 'tools.0.function'],
    [{ type: 'function', name: 'read' }, 'tools.0.function'],
    [{ type: 'function', function: {} }, 'tools.0.function.name'],
    [{ type: 'function', function: { name: 'read', parameters: '{}' } }, 'tools.0.function.parameters'],
    [{ type: 'function', function: { name: 'read', parameters: [] } }, 'tools.0.function.parameters'],
  ])('%o is refused by its field', (tool, path) => expect(issue(tool)).toBe(path))

  it.each([
    { type: 'function', function: { name: 'read' } },
    { type: 'function', function: { name: 'read', parameters: null, strict: true } },
    { type: 'mcp', server: 'files' },
    { type: 'custom', custom: { name: 'patch' } },
    { type: 'web_search_20250305', name: 'web_search' },
  ])('%o is taken', (tool) => expect(issue(tool)).toBeUndefined())
})

describe("a vendor's words for reasoning", () => {
  const told = (said: Record<string, unknown>, known?: ReadonlySet<string>) => {
    const dropped: string[] = []
    const { changes } = inCommonWords(said, known, (field) => dropped.push(field))
    const left = Object.entries({ ...said, ...changes }).filter(([, value]) => value !== undefined)
    return [Object.fromEntries(left), dropped]
  }

  it.each([
    [{ thinking: { type: 'disabled' } }, 'none'],
    [{ thinking: { type: 'enabled' } }, 'medium'],
    [{ thinking: { type: 'enabled', budget_tokens: 20_000 } }, 'high'],
    [{ thinking: { type: 'adaptive' } }, undefined],
    [{ thinking: { type: 'enabled' }, reasoning_effort: 'max' }, 'max'],
    [{ enable_thinking: false, thinking_budget: 9000 }, 'none'],
    [{ enable_thinking: true, thinking_budget: 2000 }, 'low'],
    [{ disable_reasoning: true }, 'none'],
    [{ extra_body: { google: { thinking_config: { thinking_budget: 800, include_thoughts: true } } } }, 'low'],
    [{ extra_body: { google: { thinking_config: { thinking_budget: 0 } } } }, 'none'],
    [{ extra_body: { google: { thinking_config: { thinking_budget: -1 } } } }, undefined],
    [{ extra_body: { google: { thinking_config: { thinking_level: 'high' } } } }, 'high'],
    [{ disable_reasoning: false }, undefined],
    [{ chat_template_kwargs: { enable_thinking: false } }, 'none'],
    [{ chat_template_kwargs: { thinking: true } }, 'medium'],
    [{ prompt_mode: 'reasoning' }, 'medium'],
  ])('become an effort: %j', (said, effort) => {
    expect(told(said)).toEqual([effort ? { reasoning_effort: effort } : {}, []])
  })

  it('are left out where they ask for what is so anyway, and named where they do not', () => {
    expect(told({ reasoning_format: 'parsed', include_reasoning: true })).toEqual([{}, []])
    expect(told({ reasoning_format: 'hidden', include_reasoning: false })).toEqual([
      {},
      ['include_reasoning', 'reasoning_format'],
    ])
  })

  it('are left to those that know them, and to all where nothing stands for them', () => {
    const thinking = { thinking: { type: 'disabled' } }
    expect(told(thinking, THINKING)).toEqual([thinking, []])
    expect(told({ tool_choice: 'any' }, new Set(['tool_choice']))).toEqual([{ tool_choice: 'required' }, []])
    const template = { chat_template_kwargs: { enable_thinking: false, tone: 'dry' } }
    expect(told(template)).toEqual([template, []])
    const cached = { extra_body: { google: { thinking_config: {}, cached_content: 'c' } } }
    expect(told(cached)).toEqual([cached, []])
  })

  it('may enable it without a budget at Claude', async () => {
    const { sent } = await asked(CLAUDE, { thinking: { type: 'enabled' } })
    expect(sent.thinking).toEqual({ type: 'enabled', budget_tokens: 8192 })
  })
})

describe('a schema for the answer', () => {
  const schema = { type: 'object' }
  const response_format = { type: 'json_schema', json_schema: { schema, name: 'output' } }

  it.each([
    [{ type: 'json_object', schema }],
    [{ type: 'json_schema', schema }],
    [{ type: 'json_schema', json_schema: { schema } }],
  ])('as another vendor takes it, %j, becomes one as all take it', (format) => {
    expect(inCommonWords({ response_format: format }, undefined, () => {}).changes).toEqual({ response_format })
  })

  it.each([{ type: 'json_object' }, { type: 'text' }, { type: 'json_schema', json_schema: { name: 'a', schema } }])(
    'is left as it is: %j',
    (format) => expect(inCommonWords({ response_format: format }, undefined, () => {}).changes).toEqual({}),
  )
})

describe('what asks for nothing', () => {
  it.each([
    ['openai/gpt-5', { stop: [], logprobs: false }],
    ['vllm/qwen', { tools: [] }],
    ['openai-compatible/qwen', { tools: [] }],
  ])('is not told %s, which refuses %j', async (model, fields) => {
    const { sent, dropped } = await asked(model, fields)
    expect([Object.keys(sent), dropped]).toEqual([['model', 'messages'], []])
  })
})
