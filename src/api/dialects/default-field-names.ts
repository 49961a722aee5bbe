import type { DefaultFieldNames } from '../../pipeline/translate/default-fields.ts'

const same = (...names: readonly string[]): DefaultFieldNames => Object.fromEntries(names.map((name) => [name, name]))

/** Names of a deployment's `default_params` in a native Messages request. */
export const messagesDefaults: DefaultFieldNames = {
  ...same('max_tokens', 'temperature', 'top_p', 'top_k', 'thinking', 'output_config', 'stop_sequences'),
  ...same('cache_control', 'container', 'context_management', 'inference_geo', 'mcp_servers', 'speed'),
  max_completion_tokens: 'max_tokens',
  stop: (stop) => ({ stop_sequences: [stop].flat() }),
}

/** Names in a count of tokens: it generates nothing, so that only these have an effect. */
export const countTokensDefaults: DefaultFieldNames = same('thinking', 'output_config')

/** Names in a native Responses request. */
export const responsesDefaults: DefaultFieldNames = {
  ...same('max_output_tokens', 'temperature', 'top_p', 'top_logprobs', 'parallel_tool_calls', 'reasoning', 'text'),
  ...same('include', 'truncation', 'store', 'service_tier', 'user', 'safety_identifier'),
  ...same('prompt_cache_key', 'prompt_cache_retention'),
  max_tokens: 'max_output_tokens',
  max_completion_tokens: 'max_output_tokens',
  reasoning_effort: (effort) => ({ reasoning: { effort } }),
  verbosity: (verbosity) => ({ text: { verbosity } }),
}

/** Names in a native request of Cohere's chat. */
export const cohereDefaults: DefaultFieldNames = {
  ...same('max_tokens', 'temperature', 'seed', 'frequency_penalty', 'presence_penalty', 'documents'),
  ...same('citation_options', 'safety_mode', 'strict_tools', 'priority', 'thinking'),
  max_completion_tokens: 'max_tokens',
  top_p: 'p',
  top_k: 'k',
  stop: (stop) => ({ stop_sequences: [stop].flat() }),
}
