import { adapted, carried, type FieldTable, hint, refused } from '../../../modes/field-table.ts'

/** What becomes of the fields of a Messages request at a provider that speaks another dialect. */
export const MESSAGES_FIELDS: FieldTable = {
  model: carried(),
  messages: carried(),
  system: adapted('a system message'),
  max_tokens: carried('max_completion_tokens'),
  stream: carried(),
  stop_sequences: carried('stop'),
  temperature: carried(),
  top_p: carried(),
  top_k: carried(),
  tools: adapted(
    'functions, those that are offered at the end of the conversation; tools of the vendor are left out beside functions, and refused without',
  ),
  tool_choice: adapted('left out where no function is left'),
  thinking: adapted('the effort nearest to its budget', 'reasoning_effort'),
  output_config: adapted('by its members'),
  output_format: adapted('the older name of `output_config.format`'),
  metadata: adapted('`user_id` becomes `user`', 'user'),
  service_tier: adapted('`standard_only` becomes `default`'),
  cache_control: hint(),
  context_management: hint(),
  speed: hint(['standard']),
  diagnostics: hint(),
  betas: hint(),
  // Who answers where the asked model refuses, and what that costs.
  fallbacks: hint(),
  fallback_credit_token: hint(),
  container: refused(),
  mcp_servers: refused(),
  inference_geo: refused(),
  thread: refused(),
}

/** The members of `output_config`. */
export const OUTPUT_FIELDS: FieldTable = {
  effort: carried('reasoning_effort'),
  format: carried('response_format'),
  task_budget: hint(),
}

/** The members of a tool. */
export const TOOL_FIELDS: FieldTable = {
  type: carried(),
  name: carried(),
  description: carried(),
  input_schema: carried(),
  strict: carried(),
  cache_control: carried(),
  defer_loading: hint([false]),
  eager_input_streaming: hint([false]),
  input_examples: hint(),
  allowed_callers: hint(),
}

/** The blocks of an answer that tell of what the vendor did itself. What it led to is in the text behind them. */
export const BLOCK_FIELDS: FieldTable = {
  server_tool_use: hint(),
  web_search_tool_result: hint(),
  web_fetch_tool_result: hint(),
  code_execution_tool_result: hint(),
  bash_code_execution_tool_result: hint(),
  text_editor_code_execution_tool_result: hint(),
  tool_search_tool_result: hint(),
  advisor_tool_result: hint(),
  mcp_tool_use: hint(),
  mcp_tool_result: hint(),
  mcp_tool_listing: hint(),
  fallback: hint(),
  compaction: adapted('a summary by the user, in the place of all that is before it'),
}

/** Tools that only the vendor's models know or that it runs itself, by the beginning of their types. */
export const VENDOR_TOOLS = [
  'web_search',
  'web_fetch',
  'code_execution',
  'bash',
  'text_editor',
  'computer',
  'memory',
  'tool_search_tool',
  'mcp_toolset',
  'advisor',
] as const
