import type { ChatRequest } from '../../../modes/chat.ts'
import type { ResponsesRequest } from '../../../modes/responses.ts'
import { inexpressible } from '../inexpressible.ts'
import { known } from './content.ts'
import { messagesOf } from './messages.ts'
import { chatToolChoice, chatTools } from './tools.ts'

/** Fields that only a provider with native Responses can honour, with the values that have no effect. */
const NEEDS_NATIVE: Readonly<Record<string, readonly unknown[]>> = {
  previous_response_id: [],
  conversation: [],
  background: [false],
  store: [false],
  prompt: [],
  truncation: ['disabled'],
  max_tool_calls: [],
  context_management: [],
  moderation: [],
  prompt_cache_options: [],
  access_programs: [],
  image: [],
}

/** The values of `include` that chat can honour. */
const INCLUDED: readonly string[] = ['reasoning.encrypted_content', 'message.output_text.logprobs']

/** A request as chat. Throws a 400 naming the first field that only a provider with native Responses can honour. */
export function toChat(request: ResponsesRequest): ChatRequest {
  for (const [field, values] of Object.entries(NEEDS_NATIVE)) {
    const value = request[field]
    if (value === undefined || value === null || values.includes(value)) continue
    const message = `'${field}' needs a provider that speaks Responses itself, and no deployment of this model does. Leave it out.`
    throw inexpressible(field, message)
  }
  const { input, instructions, text, reasoning, include, tools, tool_choice, max_output_tokens, ...rest } = request
  const travels = Object.entries(rest).filter(
    ([field]) => !Object.hasOwn(NEEDS_NATIVE, field) && !NOT_COPIED.has(field),
  )
  if (input === undefined || input === null || input.length === 0) {
    throw inexpressible('input', "'input' must be a text or at least one item.")
  }
  return {
    ...Object.fromEntries(travels),
    model: request.model,
    messages: [...(instructions ? [{ role: 'system', content: instructions }] : []), ...messagesOf(input)],
    ...chatTools(tools),
    ...chatToolChoice(tool_choice),
    ...responseFormat(text),
    ...known({
      verbosity: text?.verbosity,
      reasoning_effort: reasoning?.effort,
      max_completion_tokens: max_output_tokens,
    }),
    ...logprobs(include, request.top_logprobs),
    // The pipeline settles by the usage, and the last event holds it.
    ...(request.stream === true ? { stream_options: { include_usage: true } } : {}),
  }
}

/** Fields that are not copied: `top_logprobs` goes with `logprobs`, and `stream_options` asks for padding, which the
 *  gateway's streams do not have. */
const NOT_COPIED: ReadonlySet<string> = new Set(['top_logprobs', 'stream_options'])

function responseFormat(text: ResponsesRequest['text']): { readonly response_format?: unknown } {
  const format = text?.format
  if (!format || format.type === 'text') return {}
  const { type, ...schema } = format
  if (type === 'json_object') return { response_format: { type } }
  if (type === 'json_schema') return { response_format: { type, json_schema: schema } }
  throw inexpressible('text.format.type', `A text format of type '${type}' is not supported for this model.`)
}

function logprobs(include: ResponsesRequest['include'], top: unknown): object {
  for (const [index, name] of (include ?? []).entries()) {
    if (!INCLUDED.includes(name)) {
      throw inexpressible(`include.${index}`, `'${name}' is not something that this model's answers can include.`)
    }
  }
  const asked = include?.includes('message.output_text.logprobs') || (typeof top === 'number' && top > 0)
  return asked ? { logprobs: true, ...known({ top_logprobs: top }) } : {}
}
