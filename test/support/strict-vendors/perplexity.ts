import * as z from 'zod'
import { checked, Refusal, type StrictVendor, whole } from './vendor.ts'

const text = z.string()
const part = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('input_text'), text }),
  z.strictObject({ type: z.literal('input_image'), image_url: text }),
])
const item = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('message'),
    role: z.enum(['user', 'assistant', 'system', 'developer']),
    content: z.union([text, z.array(part)]),
  }),
  z.strictObject({ type: z.literal('function_call'), call_id: text, name: text, arguments: text }),
  z.strictObject({ type: z.literal('function_call_output'), call_id: text, output: text }),
])
const tool = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('function'),
    name: text,
    description: text.optional(),
    parameters: z.looseObject({}).optional(),
    strict: z.boolean().optional(),
  }),
  z.looseObject({ type: z.literal('web_search') }),
])

/** The fields of its agents, as its client's types and its guide to them have them. */
const schema = z.strictObject({
  model: text.regex(/^[\w-]+\//, 'is not supported'),
  input: z.union([text, z.array(item).min(1)]),
  instructions: text.optional(),
  max_output_tokens: z.int().optional(),
  max_steps: z.int().min(1).max(100).optional(),
  language_preference: text.optional(),
  parallel_tool_calls: z.boolean().optional(),
  reasoning: z.strictObject({ effort: z.enum(['minimal', 'low', 'medium', 'high', 'xhigh']) }).optional(),
  response_format: z
    .strictObject({
      type: z.literal('json_schema'),
      json_schema: z.strictObject({
        name: text,
        schema: z.looseObject({}),
        description: text.optional(),
        strict: z.boolean().nullish(),
      }),
    })
    .optional(),
  store: z.boolean().optional(),
  stream: z.boolean().optional(),
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().min(0).max(1).optional(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      z.strictObject({ name: text }),
      z.strictObject({ type: z.enum(['web_search', 'required']) }),
    ])
    .optional(),
  tools: z.array(tool).optional(),
})

/** Tools of its own, whose names no function may have. */
const RESERVED = new Set(['web_search', 'search_web', 'people_search', 'search_people', 'fetch_url', 'sandbox'])

/** Perplexity's agents, which refuse every field that they do not know, wherever it is. */
export const perplexity: StrictVendor = ({ headers, body }, serial) => {
  if (!headers.authorization?.startsWith('Bearer ')) throw refused('Invalid API key', 'forbidden', 401)
  const asked = checked(schema, body, ({ at, unknown, message }) =>
    refused(unknown === undefined ? `${at}: ${message}` : `invalid request body: json: unknown field "${unknown}"`),
  )
  if (asked.model.startsWith('anthropic/') && asked.max_output_tokens === undefined) {
    throw refused('max_output_tokens is required when using Anthropic models')
  }
  const reserved = asked.tools?.find((one) => one.type === 'function' && RESERVED.has(one.name as string))
  if (reserved) throw refused('function name is reserved')
  return whole({
    id: `resp_${serial}`,
    object: 'response',
    created_at: 1_790_000_000,
    model: asked.model,
    status: 'completed',
    output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.', annotations: [] }] }],
  })
}

function refused(message: string, type = 'invalid_request', code = 400): Refusal {
  return new Refusal(code, { error: { message, type, code } })
}
