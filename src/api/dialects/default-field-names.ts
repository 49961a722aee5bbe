import type { DefaultFieldNames } from '../../pipeline/attempt/default-fields.ts'

const same = (...names: readonly string[]): DefaultFieldNames => Object.fromEntries(names.map((name) => [name, name]))

/** A deployment's `default_params` where the Messages API is spoken to its own vendor. */
export const messagesDefaults: DefaultFieldNames = {
  ...same('max_tokens', 'temperature', 'top_p', 'top_k', 'thinking', 'output_config', 'stop_sequences'),
  ...same('cache_control', 'container', 'context_management', 'inference_geo', 'mcp_servers', 'speed'),
  max_completion_tokens: 'max_tokens',
  stop: (stop) => ({ stop_sequences: [stop].flat() }),
}

/** Counting has no answer that anything could be said of. */
export const countTokensDefaults: DefaultFieldNames = same('thinking', 'output_config')

/** The same where Responses are. */
export const responsesDefaults: DefaultFieldNames = {
  ...same('max_output_tokens', 'temperature', 'top_p', 'top_logprobs', 'parallel_tool_calls', 'reasoning', 'text'),
  ...same('include', 'truncation', 'store', 'service_tier', 'user', 'safety_identifier'),
  ...same('prompt_cache_key', 'prompt_cache_retention'),
  max_tokens: 'max_output_tokens',
  max_completion_tokens: 'max_output_tokens',
  reasoning_effort: (effort) => ({ reasoning: { effort } }),
  verbosity: (verbosity) => ({ text: { verbosity } }),
}
