import { adapted, carried, type FieldTable, hint, refused } from '../../../modes/field-table.ts'

/** What becomes of the fields of Cohere's chat at a provider that speaks another dialect. */
export const COHERE_FIELDS: FieldTable = {
  model: carried(),
  messages: adapted('plans of tools and thoughts become reasoning; documents in results of tools become text'),
  stream: carried(),
  max_tokens: carried('max_completion_tokens'),
  temperature: carried(),
  p: carried('top_p'),
  k: carried('top_k'),
  seed: carried(),
  frequency_penalty: carried(),
  presence_penalty: carried(),
  stop_sequences: carried('stop'),
  tools: carried(),
  tool_choice: adapted('in lower case'),
  strict_tools: adapted('`strict` of each function', 'tools'),
  response_format: adapted('a schema makes it `json_schema`'),
  thinking: adapted('the effort nearest to its budget', 'reasoning_effort'),
  metadata: adapted("the gateway's own"),
  citation_options: hint(),
  safety_mode: hint(['CONTEXTUAL']),
  priority: hint(),
  documents: refused(
    [],
    'where they are to be cited: with `citation_options.mode` `OFF` they become a message of the user',
  ),
  raw_prompting: refused([false]),
  logprobs: refused([false]),
}
