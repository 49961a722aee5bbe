import { adapted, carried, type FieldTable, hint, refused } from '../../../modes/field-table.ts'

/** What becomes of the fields of a Responses request at a provider that speaks another dialect. A field without a rule
 *  travels on to chat. */
export const RESPONSES_FIELDS: FieldTable = {
  model: carried(),
  input: adapted('items become messages, calls of functions, and the settings and tools that they change', 'messages'),
  instructions: adapted('a system message'),
  stream: carried(),
  tools: adapted(
    '`namespace`, `custom` and `local_shell` become functions; tools that the vendor runs are left out beside functions, and refused without',
  ),
  tool_choice: adapted('left out where no function is left'),
  text: adapted('`format` becomes `response_format`; `verbosity` is carried'),
  reasoning: adapted('by its members', 'reasoning_effort'),
  include: adapted('logprobs and encrypted reasoning are carried; the rest is left out as a hint'),
  max_output_tokens: carried('max_completion_tokens'),
  temperature: carried(),
  top_p: carried(),
  presence_penalty: carried(),
  frequency_penalty: carried(),
  top_logprobs: carried(),
  parallel_tool_calls: carried(),
  metadata: carried(),
  user: carried(),
  safety_identifier: carried(),
  prompt_cache_key: carried(),
  prompt_cache_retention: carried(),
  service_tier: carried(),
  stream_options: adapted('padding of events is not needed'),
  client_metadata: hint(),
  store: adapted('the gateway keeps the answer itself'),
  truncation: hint(['disabled']),
  context_management: hint(),
  background_options: hint(),
  prompt_cache_options: hint(),
  max_tool_calls: hint(),
  previous_response_id: refused([], 'where the gateway does not have it: it continues answers that the gateway keeps'),
  conversation: refused(),
  background: refused([false]),
  prompt: refused(),
  moderation: refused(),
  access_programs: refused(),
  image: refused(),
}

/** The members of `reasoning`. */
export const REASONING_FIELDS: FieldTable = {
  effort: carried('reasoning_effort'),
  summary: adapted('the reasoning that the model shows'),
  generate_summary: adapted('the older name of `summary`'),
  mode: hint(['standard']),
  context: hint(['auto']),
}

/** Tools that a provider of Responses runs, by the beginning of their types. */
export const VENDOR_TOOLS = [
  'web_search',
  'file_search',
  'code_interpreter',
  'image_generation',
  'computer',
  'tool_search',
  'shell',
  'apply_patch',
  'programmatic_tool_calling',
] as const
