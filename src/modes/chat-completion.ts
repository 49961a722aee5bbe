/** The public chat shape, as far as translators read and write it: the one pivot between dialects and vendors. */

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'function_call'

export interface ToolCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

/** Reasoning in the form that its provider accepts back. The public shape has no such field; the usual names are
 *  `reasoning_content` for the text and `thinking_blocks` for signed and redacted blocks. */
export type ThinkingBlock =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature?: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }

/** A web page that stands behind the text of an answer from `start_index` to before `end_index`. */
export interface UrlCitation {
  readonly type: 'url_citation'
  readonly url_citation: {
    readonly start_index: number
    readonly end_index: number
    readonly url: string
    readonly title: string
  }
}

export interface AssistantMessage {
  readonly role: 'assistant'
  readonly content: string | null
  readonly refusal?: string | null
  readonly reasoning_content?: string
  readonly thinking_blocks?: readonly ThinkingBlock[]
  readonly annotations?: readonly UrlCitation[]
  readonly tool_calls?: readonly ToolCall[]
}

export interface WireUsage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly prompt_tokens_details?: {
    readonly cached_tokens?: number
    readonly cache_creation_tokens?: number
    readonly cache_write_tokens?: number
    readonly audio_tokens?: number
    readonly image_tokens?: number
  }
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number; readonly audio_tokens?: number }
}

export interface ChatCompletion {
  /** Empty from a vendor that does not send one: the pipeline then makes it. */
  readonly id: string
  readonly object: 'chat.completion'
  /** Unix seconds; 0 from a vendor that does not send it: the pipeline then sets it. */
  readonly created: number
  readonly model: string
  readonly choices: readonly {
    readonly index: number
    readonly message: AssistantMessage
    readonly finish_reason: FinishReason
    /** The one of the request's stop sequences that ended the answer, of providers that tell it. */
    readonly stop_reason?: unknown
    readonly logprobs?: unknown
  }[]
  readonly usage?: WireUsage
  /** The tier that served, of providers that tell it. */
  readonly service_tier?: unknown
}

export interface ToolCallDelta {
  readonly index: number
  readonly id?: string
  readonly type?: 'function'
  readonly function?: { readonly name?: string; readonly arguments?: string }
}

export interface ChatDelta {
  readonly role?: 'assistant'
  readonly content?: string | null
  readonly refusal?: string | null
  readonly reasoning_content?: string
  /** Complete blocks. Their text has been streamed as `reasoning_content` before. */
  readonly thinking_blocks?: readonly ThinkingBlock[]
  /** Behind the text that they are of. */
  readonly annotations?: readonly UrlCitation[]
  readonly tool_calls?: readonly ToolCallDelta[]
}

export interface ChatChunk {
  /** As in ChatCompletion. */
  readonly id: string
  readonly object: 'chat.completion.chunk'
  /** As in ChatCompletion. */
  readonly created: number
  readonly model: string
  readonly choices: readonly {
    readonly index: number
    readonly delta: ChatDelta
    readonly finish_reason: FinishReason | null
    /** As in ChatCompletion. */
    readonly stop_reason?: unknown
    readonly logprobs?: unknown
  }[]
  /** Set on the last chunk, which has no choices. */
  readonly usage?: WireUsage | null
  /** As in ChatCompletion. */
  readonly service_tier?: unknown
}
