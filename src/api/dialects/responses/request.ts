import { asRecord, asText, entryOf } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import { applyTable, type Drop } from '../../../modes/field-table.ts'
import type { ResponsesRequest } from '../../../modes/responses.ts'
import { notKept } from '../../../pipeline/memory/not-kept.ts'
import { inexpressible } from '../inexpressible.ts'
import { compacting, isCompacting } from './compaction.ts'
import { known } from './content.ts'
import { REASONING_FIELDS, RESPONSES_FIELDS } from './fields.ts'
import { type Message, messagesOf } from './messages.ts'
import { chatTools } from './tools.ts'

/** The values of `include` that chat can honour. */
const INCLUDED: readonly string[] = ['reasoning.encrypted_content', 'message.output_text.logprobs']

const PREVIOUS = 'previous_response_id'
const INSTEAD: Readonly<Record<string, string>> = {
  conversation: 'Leave it out, and continue an answer by `previous_response_id`.',
}

/** A request as chat. Throws a 400 naming the first field that only a provider with native Responses can honour. */
export function toChat(
  request: ResponsesRequest,
  drop: Drop = () => {},
  compacts = isCompacting(request),
): ChatRequest {
  applyTable(request, RESPONSES_FIELDS, {
    drop,
    refuse(field) {
      // What the table does not know travels on.
      if (!Object.hasOwn(RESPONSES_FIELDS, field)) return
      // What the gateway keeps has taken the place of its id by now.
      if (field === PREVIOUS) {
        throw notKept({ id: asText(request[PREVIOUS]), param: PREVIOUS, kind: 'previous_response' })
      }
      const message = `'${field}' needs a provider that speaks Responses itself, and no deployment of this model does. ${INSTEAD[field] ?? 'Leave it out.'}`
      throw inexpressible(field, message)
    },
  })
  applyTable(asRecord(request.reasoning), REASONING_FIELDS, {
    drop: (field) => drop(`reasoning.${field}`),
    refuse: () => {},
  })
  const {
    input,
    instructions,
    text: ownText,
    reasoning: ownReasoning,
    include,
    max_output_tokens,
    tools: _,
    tool_choice: _choice,
    ...rest
  } = request
  const travels = Object.entries(rest).filter(([field]) => !NOT_COPIED.has(field) && isCarried(field))
  if (input === undefined || input === null || input.length === 0) {
    throw inexpressible('input', "'input' must be a text or at least one item.")
  }
  const messages = messagesOf(input, drop)
  const { text, reasoning } = updated({ text: ownText, reasoning: ownReasoning }, input)
  const chat = {
    ...Object.fromEntries(travels),
    model: request.model,
    messages: [
      ...(instructions ? [{ role: 'system', content: instructions }] : []),
      ...(compacts ? messages : withUsersTurn(messages)),
    ],
    ...chatTools(request, drop),
    ...responseFormat(text),
    ...known({
      verbosity: text?.verbosity,
      reasoning_effort: reasoning?.effort,
      max_completion_tokens: max_output_tokens,
    }),
    ...logprobs(include, request.top_logprobs, drop),
    // The pipeline settles by the usage, and the last event holds it.
    ...(request.stream === true ? { stream_options: { include_usage: true } } : {}),
  }
  return compacts ? compacting(chat) : chat
}

type Settings = Pick<ResponsesRequest, 'text' | 'reasoning'>

/** The settings of an answer as the items of the input have left them. */
function updated(own: Settings, input: NonNullable<ResponsesRequest['input']>): Settings {
  if (typeof input === 'string') return own
  const updates = input.filter(({ type }) => type === 'configuration_update') as Settings[]
  return updates.reduce<Settings>(
    ({ text, reasoning }, update) => ({
      text: update.text ? { ...text, ...update.text } : text,
      reasoning: update.reasoning ? { ...reasoning, ...update.reasoning } : reasoning,
    }),
    own,
  )
}

/** A conversation that the model answers with a turn of its own. One that ends with words of the model, as an agent sends
 *  it after an answer that was cut, is refused by some vendors, and others take those words for the beginning of the
 *  answer. */
function withUsersTurn(messages: Message[]): Message[] {
  const last = messages.findLast(({ role }) => role !== 'system')
  return last?.role === 'assistant' && !last.tool_calls ? [...messages, GO_ON] : messages
}

const GO_ON: Message = { role: 'user', content: 'Continue.' }

/** Fields that are not copied: `top_logprobs` goes with `logprobs`, and `stream_options` asks for padding, which the
 *  gateway's streams do not have. */
const NOT_COPIED: ReadonlySet<string> = new Set(['top_logprobs', 'stream_options'])

function isCarried(field: string): boolean {
  const fate = entryOf(RESPONSES_FIELDS, field)?.fate
  return fate === undefined || fate === 'carried'
}

function responseFormat(text: ResponsesRequest['text']): { readonly response_format?: unknown } {
  const format = text?.format
  if (!format || format.type === 'text') return {}
  const { type, ...schema } = format
  if (type === 'json_object') return { response_format: { type } }
  if (type === 'json_schema') return { response_format: { type, json_schema: schema } }
  throw inexpressible('text.format.type', `A text format of type '${type}' is not supported for this model.`)
}

function logprobs(include: ResponsesRequest['include'], top: unknown, drop: Drop): object {
  if (include?.some((name) => !INCLUDED.includes(name))) drop('include')
  const asked = include?.includes('message.output_text.logprobs') || (typeof top === 'number' && top > 0)
  return asked ? { logprobs: true, ...known({ top_logprobs: top }) } : {}
}
