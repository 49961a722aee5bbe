import { isRecord } from '../../../lib/json/lenient.ts'
import type { AnswerFacts } from '../../../modes/answer-facts.ts'
import type { WireUsage } from '../../../modes/chat-completion.ts'
import type { ResponsesRequest } from '../../../modes/responses.ts'
import { known } from './content.ts'

/** The members that are the same in every event of one response. */
export interface Head {
  readonly id: string
  readonly previousId: string | null
  /** It is there for later requests. */
  readonly kept: boolean
  readonly createdAt: number
  readonly model: string
}

/** The members that change while a response grows. */
export interface Progress {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
  readonly output: readonly object[]
  readonly usage?: WireUsage | undefined
  /** The tier of service that the provider gave, if it said so. */
  readonly tier?: string | undefined
  readonly incompleteBecause?: 'max_output_tokens' | 'content_filter'
  readonly error?: { readonly code: string; readonly message: string }
}

export function newHead(
  id: string,
  {
    created,
    model,
    facts,
  }: { readonly created: unknown; readonly model: unknown; readonly facts?: AnswerFacts | undefined },
  request: ResponsesRequest,
): Head {
  return {
    id,
    previousId: facts?.previousId ?? null,
    kept: facts?.kept ?? false,
    createdAt: typeof created === 'number' && created > 0 ? Math.floor(created) : nowSeconds(),
    model: typeof model === 'string' && model !== '' ? model : request.model,
  }
}

/** The response object: every field that the vendor's own has, with what the request set. */
export function responseDocument(head: Head, request: ResponsesRequest, progress: Progress): object {
  const { status, output, usage, tier, incompleteBecause, error } = progress
  return {
    id: head.id,
    object: 'response',
    created_at: head.createdAt,
    completed_at: status === 'completed' ? Math.max(head.createdAt, nowSeconds()) : null,
    status,
    error: error ?? null,
    incomplete_details: incompleteBecause ? { reason: incompleteBecause } : null,
    model: head.model,
    output,
    usage: usage ? responseUsage(usage) : null,
    previous_response_id: head.previousId,
    store: head.kept,
    ...settings(request),
    service_tier: tier ?? request.service_tier ?? 'default',
  }
}

function settings(request: ResponsesRequest): object {
  return {
    instructions: request.instructions ?? null,
    metadata: request.metadata ?? {},
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    temperature: request.temperature ?? 1,
    top_p: request.top_p ?? 1,
    presence_penalty: request.presence_penalty ?? 0,
    frequency_penalty: request.frequency_penalty ?? 0,
    top_logprobs: request.top_logprobs ?? 0,
    ...toolSettings(request),
    text: textDocument(request.text),
    reasoning: { effort: null, summary: null, ...request.reasoning },
    max_output_tokens: request.max_output_tokens ?? null,
    truncation: 'disabled',
    background: false,
    prompt_cache_key: request.prompt_cache_key ?? null,
    safety_identifier: request.safety_identifier ?? null,
    user: request.user ?? null,
  }
}

/** What a response says of the tools that its request offered. */
export function toolSettings({ tools, tool_choice, max_tool_calls }: ResponsesRequest): object {
  const choice =
    isRecord(tool_choice) && tool_choice.type === 'allowed_tools' ? { mode: 'auto', ...tool_choice } : tool_choice
  return {
    tool_choice: choice ?? 'auto',
    tools: (tools ?? []).map(toolDocument),
    max_tool_calls: max_tool_calls ?? null,
  }
}

/** Clients that check the object expect every member of a function and of a format, null where the request has none. */
function toolDocument(tool: NonNullable<ResponsesRequest['tools']>[number]): object {
  return tool.type === 'function' ? { description: null, parameters: null, strict: null, ...tool } : tool
}

function textDocument(text: ResponsesRequest['text']): object {
  const { format, ...rest } = text ?? {}
  return { ...known(rest), format: formatDocument(format) }
}

function formatDocument(format: NonNullable<ResponsesRequest['text']>['format']): object {
  if (!format) return { type: 'text' }
  return format.type === 'json_schema' ? { description: null, ...format, strict: format.strict ?? false } : format
}

export function responseUsage(usage: WireUsage): object {
  const { prompt_tokens_details: input, completion_tokens_details: output } = usage
  const inputTokens = usage.prompt_tokens ?? 0
  const outputTokens = usage.completion_tokens ?? 0
  return {
    input_tokens: inputTokens,
    input_tokens_details: {
      cached_tokens: input?.cached_tokens ?? 0,
      cache_write_tokens: input?.cache_creation_tokens ?? 0,
    },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: output?.reasoning_tokens ?? 0 },
    total_tokens: usage.total_tokens ?? inputTokens + outputTokens,
  }
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}
