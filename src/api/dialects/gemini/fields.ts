import { adapted, carried, type FieldTable, hint, refused } from '../../../modes/field-table.ts'

/** What becomes of the fields of a generateContent request at a provider that speaks another dialect. */
export const GEMINI_FIELDS: FieldTable = {
  model: carried(),
  stream: carried(),
  contents: adapted('parts become messages, calls of functions and their results', 'messages'),
  systemInstruction: adapted('a system message'),
  tools: adapted('functions; tools of the vendor are left out beside functions, and refused without'),
  toolConfig: adapted('by its members'),
  generationConfig: adapted('by its members'),
  metadata: adapted("the gateway's own"),
  serviceTier: carried('service_tier'),
  safetySettings: hint(),
  labels: hint(),
  store: hint([false]),
  cachedContent: refused(),
  continuationToken: refused(),
}

/** The members of `generationConfig`. */
export const CONFIG_FIELDS: FieldTable = {
  temperature: carried(),
  topP: carried('top_p'),
  topK: carried('top_k'),
  maxOutputTokens: carried('max_completion_tokens'),
  stopSequences: carried('stop'),
  candidateCount: carried('n'),
  seed: carried(),
  presencePenalty: carried('presence_penalty'),
  frequencyPenalty: carried('frequency_penalty'),
  responseLogprobs: carried('logprobs'),
  logprobs: carried('top_logprobs'),
  responseMimeType: adapted('`application/json` becomes `response_format`', 'response_format'),
  responseSchema: adapted('a JSON schema in `response_format`'),
  responseJsonSchema: carried(),
  responseModalities: adapted('TEXT and IMAGE; others are refused', 'modalities'),
  thinkingConfig: adapted(
    'the level, or the effort nearest to the budget; thoughts are shown if they are asked for',
    'reasoning_effort',
  ),
  mediaResolution: hint(),
  audioTimestamp: hint([false]),
  enableEnhancedCivicAnswers: hint([false]),
  speechConfig: refused(),
  imageConfig: refused(),
  routingConfig: refused(),
  modelSelectionConfig: refused(),
}

/** The members of `toolConfig`. */
export const TOOL_CONFIG_FIELDS: FieldTable = {
  functionCallingConfig: adapted('the mode becomes `tool_choice`; left out where no function is left', 'tool_choice'),
  retrievalConfig: hint(),
  includeServerSideToolInvocations: hint([false]),
}

/** The members of a declared function. */
export const FUNCTION_FIELDS: FieldTable = {
  name: carried(),
  description: carried(),
  parameters: adapted('a JSON schema'),
  parametersJsonSchema: carried(),
  response: hint(),
  responseJsonSchema: hint(),
  behavior: hint(['BLOCKING', 'UNSPECIFIED']),
}

/** The members of a part beside what it holds. */
export const PART_FIELDS: FieldTable = {
  mediaResolution: hint(),
  videoMetadata: hint(),
  partMetadata: hint(),
  mediaProcessing: hint(),
  speechMetadata: hint(),
  audioTranscription: hint(),
  // Calls that the vendor made itself, and what they gave.
  toolCall: hint(),
  toolResponse: hint(),
}

/** Tools that the vendor runs. */
export const VENDOR_TOOLS = [
  'googleSearch',
  'googleSearchRetrieval',
  'googleMaps',
  'urlContext',
  'codeExecution',
  'fileSearch',
  'retrieval',
  'enterpriseWebSearch',
  'computerUse',
  'mcpServers',
  'exaAiSearch',
  'parallelAiSearch',
] as const
