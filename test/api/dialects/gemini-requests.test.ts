import { describe, expect, it } from 'vitest'
import { geminiDialect } from '../../../src/api/dialects/gemini.ts'
import { GatewayError } from '../../../src/lib/errors.ts'
import type { ModelRequest } from '../../../src/modes/mode.ts'
import type { Json } from './gemini-parts.ts'

const hello = [{ role: 'user', parts: [{ text: 'Hello' }] }]
const asRequest = (request: Json) => ({ model: 'm', contents: hello, ...request }) as unknown as ModelRequest
/** A request of one turn. */
const turn = (...parts: readonly object[]) => ({ contents: [{ role: 'user', parts }] })
/** The messages of a turn of the user. */
const user = (content: unknown) => ({ messages: [{ role: 'user', content }] })
const functions = (...declared: readonly object[]) => ({ tools: [{ functionDeclarations: declared }] })
const choosing = (functionCallingConfig: object) => ({
  ...functions({ name: 'f' }, { name: 'g' }),
  toolConfig: { functionCallingConfig },
})
const config = (generationConfig: object) => ({ generationConfig })
const none = { type: 'object', properties: {} }
const tool = (name: string, more: object = {}) => ({ type: 'function', function: { name, parameters: none, ...more } })
const call = (id: string, name: string, args = '{}') => ({ id, type: 'function', function: { name, arguments: args } })
const format = (schema: object, strict: object = { strict: true }) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'output', ...strict, schema } },
})
const json = { responseMimeType: 'application/json' }
const both = { tools: [tool('f'), tool('g')] }
const named = (...names: string[]) => names.map((name) => ({ type: 'function', function: { name } }))
const asked = {
  role: 'model',
  parts: [{ functionCall: { name: 'f', args: { x: 1 } } }, { functionCall: { name: 'g' } }],
}
const madeUp = [call('call_1_0', 'f', '{"x":1}'), call('call_1_1', 'g')]
const answered = (...parts: readonly object[]) => ({ contents: [...hello, asked, { role: 'user', parts }] })
const result = (name: string, response: object | string, more: object = {}) => ({
  functionResponse: { name, response, ...more },
})
const told = (...messages: readonly object[]) => ({
  messages: [{ role: 'user', content: 'Hello' }, { role: 'assistant', content: null, tool_calls: madeUp }, ...messages],
})
const heard = (tool_call_id: string, content: unknown) => ({ role: 'tool', tool_call_id, content })

/** What is asked for, in Gemini's words and in those of chat, and the hints that are left out. */
const REQUESTS: readonly (readonly [string, Json, Json, (readonly string[])?])[] = [
  ['a text', {}, {}],
  ['parts without a role', { contents: [{ parts: [{ text: 'Hello' }] }] }, {}],
  [
    'several texts',
    turn({ text: 'a' }, { text: 'b' }),
    user([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ]),
  ],
  ['an empty turn', turn(), user('')],
  [
    'instructions of several parts',
    { systemInstruction: { parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] } },
    {
      messages: [
        {
          role: 'system',
          content: [
            { type: 'text', text: 'Be brief.' },
            { type: 'text', text: 'Be kind.' },
          ],
        },
        { role: 'user', content: 'Hello' },
      ],
    },
  ],
  [
    'an instruction that is a text, in snake case',
    { system_instruction: 'Be brief.' },
    {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
    },
  ],
  [
    'a conversation',
    { contents: [...hello, { role: 'model', parts: [{ text: 'Hi.' }] }, { role: 'model', parts: [] }, ...hello] },
    {
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Hi.' },
        { role: 'user', content: 'Hello' },
      ],
    },
  ],
  [
    'thoughts that nobody signed',
    { contents: [...hello, { role: 'model', parts: [{ text: 'Hm.', thought: true }, { text: 'Hi.' }] }] },
    {
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Hi.', reasoning_content: 'Hm.' },
      ],
    },
  ],
  [
    'code that a model ran',
    {
      contents: [
        ...hello,
        { role: 'model', parts: [{ executableCode: { code: '1+1' } }, { codeExecutionResult: { output: '2' } }] },
      ],
    },
    {
      messages: [
        { role: 'user', content: 'Hello' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: '1+1' },
            { type: 'text', text: '2' },
          ],
        },
      ],
    },
  ],
  [
    'a picture in base64 for addresses, in snake case',
    turn({ inline_data: { mime_type: 'image/png', data: '-_8=' } }),
    user([{ type: 'image_url', image_url: { url: 'data:image/png;base64,+/8=' } }]),
  ],
  [
    'a sound',
    turn({ inlineData: { mimeType: 'audio/mpeg', data: 'AA==' } }),
    user([{ type: 'input_audio', input_audio: { data: 'AA==', format: 'mp3' } }]),
  ],
  [
    'a film',
    turn({ inlineData: { mimeType: 'video/mp4', data: 'AA==' }, videoMetadata: { fps: 1 } }),
    user([{ type: 'video_url', video_url: { url: 'data:video/mp4;base64,AA==' } }]),
    ['contents.parts.videoMetadata'],
  ],
  [
    'a document',
    turn({ inlineData: { mimeType: 'application/pdf', data: 'AA==', displayName: 'a.pdf' } }),
    user([{ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' } }]),
  ],
  [
    'a picture and a document by their addresses',
    turn(
      { fileData: { mimeType: 'image/png', fileUri: 'https://a.example/b' } },
      { fileData: { mimeType: 'application/pdf', fileUri: 'https://a.example/c' } },
    ),
    user([
      { type: 'image_url', image_url: { url: 'https://a.example/b' } },
      { type: 'file', file: { file_id: 'https://a.example/c' } },
    ]),
  ],
  [
    'results of calls without ids, in another order',
    answered(result('g', { output: 'two' }), result('f', { result: 'one' })),
    told(heard('call_1_1', 'two'), heard('call_1_0', 'one')),
  ],
  [
    // As Effect's client for Google sends them.
    'results with ids, one of them a text, of calls without',
    answered(result('g', { output: 'two' }, { id: 'b' }), result('f', 'one', { id: 'a' })),
    told(heard('call_1_1', 'two'), heard('call_1_0', 'one')),
  ],
  [
    'results that are objects, with words after them',
    answered(result('f', { error: 'No.' }), result('g', { output: { n: 1 } }), { text: 'Go on.' }),
    told(heard('call_1_0', '{"error":"No."}'), heard('call_1_1', '{"output":{"n":1}}'), {
      role: 'user',
      content: 'Go on.',
    }),
  ],
  [
    'a result with a picture',
    answered(result('f', { output: 'Here.' }, { parts: [{ inlineData: { mimeType: 'image/png', data: 'AA==' } }] })),
    told(
      heard('call_1_0', [
        { type: 'text', text: 'Here.' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
      ]),
    ),
  ],
  [
    'every setting',
    config({
      ...{
        temperature: 0,
        topP: 0.9,
        topK: 40,
        maxOutputTokens: 9,
        stopSequences: ['END'],
        candidateCount: 2,
        seed: 7,
      },
      ...{ presencePenalty: 0.1, frequencyPenalty: -0.1, responseLogprobs: true, logprobs: 3 },
    }),
    {
      ...{ temperature: 0, top_p: 0.9, top_k: 40, max_completion_tokens: 9, stop: ['END'], n: 2, seed: 7 },
      ...{ presence_penalty: 0.1, frequency_penalty: -0.1, logprobs: true, top_logprobs: 3 },
    },
  ],
  [
    'settings that ask for nothing',
    config({ candidateCount: 1, stopSequences: [], responseLogprobs: false, logprobs: 3 }),
    {},
  ],
  ['any document', config(json), { response_format: { type: 'json_object' } }],
  [
    'a document of a schema of the API',
    config({
      ...json,
      responseSchema: {
        type: 'OBJECT',
        properties: {
          word: { type: 'STRING', format: 'enum', enum: ['a'], nullable: true },
          list: { type: 'ARRAY', items: { type: 'NUMBER' }, maxItems: '3' },
          either: { anyOf: [{ type: 'STRING' }, { type: 'INTEGER', format: 'int32' }], nullable: true },
          age: { type: ['number', 'null'] },
        },
        required: ['word', 'list', 'either', 'age'],
        propertyOrdering: ['word', 'list', 'either'],
      },
    }),
    format({
      type: 'object',
      properties: {
        word: { type: ['string', 'null'], enum: ['a', null] },
        list: { type: 'array', items: { type: 'number' }, maxItems: 3 },
        either: { anyOf: [{ type: 'string' }, { type: 'integer', format: 'int32' }, { type: 'null' }] },
        age: { type: ['number', 'null'] },
      },
      required: ['word', 'list', 'either', 'age'],
      additionalProperties: false,
    }),
  ],
  [
    'a document of a JSON schema that leaves something open',
    config({ ...json, responseJsonSchema: { type: 'object', properties: { a: {} } } }),
    format({ type: 'object', properties: { a: {} } }),
  ],
  ['a picture as answer', config({ responseModalities: ['TEXT', 'IMAGE'] }), { modalities: ['text', 'image'] }],
  ['text as answer', config({ responseModalities: ['TEXT'], responseMimeType: 'text/plain' }), {}],
  ...(
    [
      [{ thinkingLevel: 'HIGH' }, 'high'],
      [{ thinkingLevel: 'minimal' }, 'minimal'],
      [{ thinkingBudget: 2048 }, 'low'],
      [{ thinking_budget: 2049 }, 'medium'],
      [{ thinkingBudget: 8193 }, 'high'],
      [{ thinkingBudget: 0 }, undefined],
      [{ thinkingBudget: -1, includeThoughts: true }, undefined],
    ] as const
  ).map(
    ([thinkingConfig, reasoning_effort]) =>
      [
        `thinking of ${JSON.stringify(thinkingConfig)}`,
        config({ thinkingConfig }),
        reasoning_effort ? { reasoning_effort } : {},
      ] as const,
  ),
  [
    'functions, with schemas of both kinds and with none',
    functions(
      { name: 'f', description: 'Does.', parameters: { type: 'OBJECT', properties: { x: { type: 'BOOLEAN' } } } },
      { name: 'g', parametersJsonSchema: { type: 'object', properties: {}, additionalProperties: false } },
      { name: 'h', response: { type: 'STRING' } },
    ),
    {
      tools: [
        tool('f', { description: 'Does.', parameters: { type: 'object', properties: { x: { type: 'boolean' } } } }),
        tool('g', { parameters: { ...none, additionalProperties: false } }),
        tool('h'),
      ],
    },
    ['tools.functionDeclarations.response'],
  ],
  [
    'a search beside functions',
    { tools: [{ functionDeclarations: [{ name: 'f' }] }, { google_search: {} }] },
    { tools: [tool('f')] },
    ['tools.googleSearch'],
  ],
  ['no function', choosing({ mode: 'NONE' }), { ...both, tool_choice: 'none' }],
  ['any function', choosing({ mode: 'ANY' }), { ...both, tool_choice: 'required' }],
  ['one function', choosing({ mode: 'ANY', allowedFunctionNames: ['g'] }), { ...both, tool_choice: named('g')[0] }],
  [
    'one of some functions',
    choosing({ mode: 'any', allowed_function_names: ['f', 'g'] }),
    { ...both, tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: named('f', 'g') } } },
  ],
  [
    'perhaps one of some functions',
    choosing({ mode: 'VALIDATED', allowedFunctionNames: ['f'] }),
    { ...both, tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: named('f') } } },
  ],
  ['functions as the model likes', choosing({ mode: 'AUTO' }), both],
  [
    'a choice among no functions',
    { toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
    {},
    ['toolConfig.functionCallingConfig'],
  ],
  ['the usual tier', { serviceTier: 'STANDARD' }, { service_tier: 'default' }],
  ['another tier', { service_tier: 'flex' }, { service_tier: 'flex' }],
  ['a stream', { stream: true }, { stream: true, stream_options: { include_usage: true } }],
  [
    'what only the vendor knows and no answer depends on',
    {
      safetySettings: [{ category: 'c' }],
      labels: { a: 'b' },
      store: false,
      ...config({ mediaResolution: 'LOW', audioTimestamp: false }),
    },
    {},
    ['safetySettings', 'labels', 'generationConfig.mediaResolution'],
  ],
]

/** Requests that chat cannot express, and the field that is named. */
const REFUSED: readonly (readonly [Json, string])[] = [
  [{ contents: [{ role: 'model', parts: [] }] }, 'contents'],
  [{ cachedContent: 'cachedContents/a' }, 'cachedContent'],
  [{ continuation_token: 'a' }, 'continuationToken'],
  [{ further: 1 }, 'further'],
  [turn({ text: 'a', further: 1 }), 'contents.0.parts.0.further'],
  [turn({ inlineData: { data: 'AA==' } }), 'contents.0.parts.0.inlineData.mimeType'],
  [turn({ text: 'a' }, { fileData: { fileUri: 'gs://a/b' } }), 'contents.0.parts.1.fileData.fileUri'],
  [
    turn({ fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/a' } }),
    'contents.0.parts.0.fileData.fileUri',
  ],
  [turn(result('f', {})), 'contents.0.parts.0.functionResponse'],
  [
    { contents: [{ role: 'model', parts: [{ functionCall: { name: 'f', args: [] } }] }] },
    'contents.0.parts.0.functionCall.args',
  ],
  [config({ responseMimeType: 'text/x.enum' }), 'generationConfig.responseMimeType'],
  [config({ responseModalities: ['AUDIO'] }), 'generationConfig.responseModalities'],
  [config({ speech_config: { languageCode: 'de' } }), 'generationConfig.speechConfig'],
  [config({ further: 1 }), 'generationConfig.further'],
  [{ tools: [{ urlContext: {} }] }, 'tools.0.urlContext'],
  [{ tools: [{ further: {} }, ...functions({ name: 'f' }).tools] }, 'tools.0.further'],
  [functions({ name: 'f', behavior: 'BLOCKING', further: 1 }), 'tools.0.functionDeclarations.0.further'],
  [choosing({ mode: 'SOME' }), 'toolConfig.functionCallingConfig.mode'],
]

describe('a request of generateContent as chat', () => {
  it.each(REQUESTS.map(([what, request, chat, dropped = []]) => [what, request, chat, dropped] as const))(
    'asks for %s',
    (_, request, chat, dropped) => {
      const drops: string[] = []
      const written = geminiDialect.toChat(asRequest(request), (field) => drops.push(field))
      expect(written).toEqual({ model: 'm', messages: [{ role: 'user', content: 'Hello' }], ...chat })
      expect(drops).toEqual(dropped)
    },
  )

  it.each(REFUSED)('is refused: %j', (request, param) => {
    expect(() => geminiDialect.toChat(asRequest(request))).toThrow(GatewayError)
    try {
      geminiDialect.toChat(asRequest(request))
    } catch (error) {
      expect(error).toMatchObject({ status: 400, details: { param }, message: expect.stringContaining(`'${param}'`) })
    }
  })
})
