import * as z from 'zod'

/** What Open Responses publishes of its objects, as far as the gateway writes them: members that must be there, and their
 *  kinds. */

const text = z.string()
const index = z.int().min(0)
const nullable = <T extends z.ZodType>(type: T) => z.union([type, z.null()])

const token = z.looseObject({ token: text, logprob: z.number(), bytes: z.array(z.int()) })
const logprob = token.extend({ top_logprobs: z.array(token) })
const annotation = z.looseObject({
  type: z.literal('url_citation'),
  url: text,
  title: text,
  start_index: index,
  end_index: index,
})
const part = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('output_text'),
    text,
    annotations: z.array(annotation),
    logprobs: z.array(logprob),
  }),
  z.looseObject({ type: z.literal('refusal'), refusal: text }),
  z.looseObject({ type: z.literal('summary_text'), text }),
])
const status = z.enum(['in_progress', 'completed', 'incomplete'])
const item = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('message'), id: text, status, role: z.literal('assistant'), content: z.array(part) }),
  z.looseObject({ type: z.literal('function_call'), id: text, call_id: text, name: text, arguments: text, status }),
  z.looseObject({
    type: z.literal('reasoning'),
    id: text,
    summary: z.array(part),
    encrypted_content: text.optional(),
  }),
])
const functionTool = z.looseObject({
  type: z.literal('function'),
  name: text,
  description: nullable(text),
  parameters: nullable(z.looseObject({})),
  strict: nullable(z.boolean()),
})
const format = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({ type: z.literal('json_schema'), name: text, description: nullable(text), strict: z.boolean() }),
])
const usage = z.looseObject({
  input_tokens: z.int(),
  output_tokens: z.int(),
  total_tokens: z.int(),
  input_tokens_details: z.looseObject({ cached_tokens: z.int() }),
  output_tokens_details: z.looseObject({ reasoning_tokens: z.int() }),
})

export const responseObject = z.looseObject({
  id: text,
  object: z.literal('response'),
  created_at: z.int(),
  completed_at: nullable(z.int()),
  status: z.enum(['in_progress', 'completed', 'incomplete', 'failed']),
  incomplete_details: nullable(z.looseObject({ reason: text })),
  model: text,
  previous_response_id: nullable(text),
  instructions: nullable(text),
  output: z.array(item),
  error: nullable(z.looseObject({ code: text, message: text })),
  tools: z.array(functionTool),
  tool_choice: z.union([z.enum(['auto', 'none', 'required']), z.looseObject({ type: text })]),
  truncation: z.enum(['auto', 'disabled']),
  parallel_tool_calls: z.boolean(),
  text: z.looseObject({ format, verbosity: z.enum(['low', 'medium', 'high']).optional() }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: z.int(),
  temperature: z.number(),
  reasoning: nullable(z.looseObject({ effort: nullable(text), summary: nullable(text) })),
  usage: nullable(usage),
  max_output_tokens: nullable(z.int()),
  max_tool_calls: nullable(z.int()),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: text,
  metadata: z.looseObject({}),
  user: nullable(text),
  safety_identifier: nullable(text),
  prompt_cache_key: nullable(text),
})

const event = <Name extends string, Shape extends z.ZodRawShape>(type: Name, shape: Shape) =>
  z.looseObject({ type: z.literal(type), sequence_number: index, ...shape })
const ofResponse = { response: responseObject }
const ofItem = { output_index: index, item }
const inItem = { item_id: text, output_index: index }
const inContent = { ...inItem, content_index: index }
const inSummary = { ...inItem, summary_index: index }

export const responseEvent = z.discriminatedUnion('type', [
  event('response.created', ofResponse),
  event('response.in_progress', ofResponse),
  event('response.completed', ofResponse),
  event('response.incomplete', ofResponse),
  event('response.failed', ofResponse),
  event('response.output_item.added', ofItem),
  event('response.output_item.done', ofItem),
  event('response.content_part.added', { ...inContent, part }),
  event('response.content_part.done', { ...inContent, part }),
  event('response.output_text.delta', { ...inContent, delta: text, logprobs: z.array(logprob) }),
  event('response.output_text.done', { ...inContent, text, logprobs: z.array(logprob) }),
  event('response.output_text.annotation.added', { ...inContent, annotation_index: index, annotation }),
  event('response.refusal.delta', { ...inContent, delta: text }),
  event('response.refusal.done', { ...inContent, refusal: text }),
  event('response.function_call_arguments.delta', { ...inItem, delta: text }),
  event('response.function_call_arguments.done', { ...inItem, arguments: text }),
  event('response.reasoning_summary_part.added', { ...inSummary, part }),
  event('response.reasoning_summary_part.done', { ...inSummary, part }),
  event('response.reasoning_summary_text.delta', { ...inSummary, delta: text }),
  event('response.reasoning_summary_text.done', { ...inSummary, text }),
  event('error', {
    error: z.looseObject({ type: text, code: nullable(text), message: text, param: nullable(text) }),
  }),
])
export type ResponseEvent = z.output<typeof responseEvent>
