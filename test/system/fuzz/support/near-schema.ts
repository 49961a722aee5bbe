import fc from 'fast-check'

/** As far as the schemas of the endpoints use it. */
export interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
}

/** Words of the public APIs: where a translator looks. */
const KEYS = [
  ...[
    'role',
    'content',
    'text',
    'type',
    'name',
    'id',
    'tool_calls',
    'tool_call_id',
    'function',
    'arguments',
    'call_id',
  ],
  ...['image_url', 'url', 'input_audio', 'data', 'format', 'file', 'file_data', 'source', 'media_type', 'output'],
  ...['tools', 'tool_choice', 'parameters', 'description', 'strict', 'response_format', 'json_schema', 'schema'],
  ...[
    'stop',
    'max_tokens',
    'max_completion_tokens',
    'temperature',
    'top_p',
    'seed',
    'n',
    'logprobs',
    'reasoning_effort',
  ],
  ...['stream', 'stream_options', 'include_usage', 'metadata', 'tags', 'prompt_ref', 'store', 'user', 'thinking'],
  ...['thinking_blocks', 'reasoning_content', 'signature', 'cache_control', 'system', 'input_schema', 'modalities'],
  ...[
    'language',
    'voice',
    'speed',
    'size',
    'quality',
    'dimensions',
    'top_n',
    'documents',
    'voice_settings',
    '__proto__',
    'constructor',
    'toString',
    'valueOf',
  ],
]
const WORDS = [
  ...[
    'user',
    'assistant',
    'system',
    'developer',
    'tool',
    'function',
    'text',
    'image_url',
    'input_audio',
    'file',
    'auto',
  ],
  ...['none', 'required', 'any', 'json_object', 'json_schema', 'input_text', 'output_text', 'input_image', 'message'],
  ...['function_call', 'function_call_output', 'reasoning', 'tool_use', 'tool_result', 'image', 'document', 'base64'],
  ...[
    'data:image/png;base64,AAAA',
    'data:,',
    'data:image/png;base64,%',
    'https://example.test/a.png',
    'file:///x',
    '{}',
  ],
  ...['{"a":1}', '{', 'null', 'low', 'high', 'ephemeral', 'enabled', '1024x1024', 'mp3', '', '..', '\ud800', '\u0000'],
  ...['constructor', '__proto__'],
]

const word = fc.oneof(fc.constantFrom(...WORDS), fc.string({ maxLength: 8 }))
/** An integer that a double rounds: where it is a program's own, it is an object and no number. */
const LONG_INTEGER: unknown = (JSON as unknown as { rawJSON(text: string): object }).rawJSON('9223372036854775807')
const scalar = fc.oneof(word, fc.constantFrom(null, true, false, 0, -1, 1, 0.5, 1e308, 2 ** 53, LONG_INTEGER))

/** JSON that looks like something out of a request. */
export const familiar: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('value'), { maxKeys: 5 }),
  ),
})).value

const part = fc
  .record({
    type: fc.constantFrom(...WORDS.filter((one) => /^[a-z_]+$/.test(one))),
    text: word,
    more: fc.dictionary(fc.constantFrom(...KEYS), familiar, { maxKeys: 3 }),
  })
  .map(({ more, ...rest }) => ({ ...more, ...rest }))

const toolCall = fc.record({
  id: word,
  type: fc.constant('function'),
  function: fc.record({ name: word, arguments: word }),
})

const message = fc
  .record(
    {
      role: fc.constantFrom('user', 'user', 'user', 'assistant', 'assistant', 'system', 'developer', 'tool', 'x'),
      content: fc.oneof(
        { weight: 3, arbitrary: word },
        { weight: 3, arbitrary: fc.array(part, { maxLength: 3 }) },
        { weight: 1, arbitrary: familiar },
      ),
      tool_calls: fc.array(toolCall, { maxLength: 2 }),
      tool_call_id: word,
      more: fc.dictionary(fc.constantFrom(...KEYS), familiar, { maxKeys: 2 }),
    },
    { requiredKeys: ['role', 'content'] },
  )
  .map(({ more, ...rest }) => ({ ...more, ...rest }))

const tool = fc.record({
  type: fc.constantFrom('function', 'custom', 'mcp', 'web_search'),
  function: fc.oneof(fc.record({ name: word, parameters: familiar }), familiar),
  name: word,
  input_schema: familiar,
})

/** Values by the name of their field, where the schema says too little of them. */
const BY_NAME: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  messages: fc.array(message, { minLength: 1, maxLength: 4 }),
  input: fc.oneof(word, fc.array(fc.oneof(message, part), { maxLength: 4 })),
  tools: fc.array(tool, { maxLength: 2 }),
  stream: fc.constantFrom(false, true, undefined, null),
  max_tokens: fc.integer({ min: 1, max: 100 }),
  size: fc.constantFrom('1024x1024', 'auto', '1x1', '99999x1'),
  documents: fc.array(fc.oneof(word, fc.record({ text: word })), { minLength: 1, maxLength: 3 }),
}

/** JSON as a schema asks for it; with `mistakes`, now and then anything else in each place. */
export function nearSchema(schema: JsonSchema, mistakes: boolean, name = ''): fc.Arbitrary<unknown> {
  const saysEnough = schema.anyOf !== undefined || schema.type === 'string'
  const known = !saysEnough && Object.hasOwn(BY_NAME, name) ? BY_NAME[name] : undefined
  const own = known ?? asSchema(schema, mistakes)
  if (!mistakes) return own
  return fc.oneof(
    { weight: 8, arbitrary: own },
    { weight: 1, arbitrary: familiar },
    { weight: 1, arbitrary: fc.jsonValue() },
  )
}

function asSchema(schema: JsonSchema, mistakes: boolean): fc.Arbitrary<unknown> {
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => nearSchema(one, mistakes)))
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.const !== undefined) return fc.constant(schema.const)
  const types = schema.type === undefined ? [] : [schema.type].flat()
  const known = types.flatMap((type) => BY_TYPE[type]?.(schema, mistakes) ?? [])
  return known.length === 0 ? familiar : fc.oneof(...known)
}

const BY_TYPE: Readonly<Record<string, (schema: JsonSchema, mistakes: boolean) => fc.Arbitrary<unknown>>> = {
  object: ({ properties = {} }, mistakes) => {
    const fields = Object.entries(properties).map(([key, value]) => [key, nearSchema(value, mistakes, key)])
    const known: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(fields)
    const required = ALWAYS.filter((key) => key in known)
    const more = fc.dictionary(fc.constantFrom(...KEYS), familiar, { maxKeys: 3 })
    return fc
      .tuple(fc.record(known, { requiredKeys: required }), mistakes ? more : fc.constant({}))
      .map(([own, other]) => ({ ...other, ...own }))
  },
  array: ({ items }, mistakes) =>
    fc.array(items ? nearSchema(items, mistakes) : familiar, { minLength: 1, maxLength: 3 }),
  string: () => fc.oneof(word, fc.constant('Hello')),
  number: () => fc.double({ min: 0, max: 1, noNaN: true }),
  integer: () => fc.integer({ min: 1, max: 10 }),
  boolean: () => fc.boolean(),
  null: () => fc.constant(null),
}

/** Fields without which a request is not read any further. */
const ALWAYS = ['model', 'messages', 'input', 'prompt', 'query', 'documents', 'role', 'max_tokens', 'text']
