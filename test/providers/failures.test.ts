import { describe, expect, it } from 'vitest'
import { messagesFailure } from '../../src/providers/anthropic/messages-failure.ts'
import { bedrockFailure } from '../../src/providers/bedrock/bedrock-failure.ts'
import { elevenlabsFailure } from '../../src/providers/elevenlabs/failure.ts'
import { googleFailure } from '../../src/providers/gemini/google-failure.ts'
import { openaiEmbeddedFailure, openaiFailure } from '../../src/providers/openai/failure.ts'
import { busyMs } from '../support/busy-ms.ts'

const encoder = new TextEncoder()
const named = (status: number, body: object, read = openaiFailure) =>
  read(status, {}, encoder.encode(JSON.stringify(body)), 0).failure

describe('an input that is too large, in the words of', () => {
  it.each([
    ['xAI', "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
    ['llama.cpp', 'the request exceeds the available context size, try increasing it'],
    ['LM Studio', 'The number of tokens to keep from the prompt is greater than the context length.'],
    ['Together', 'The input (9000 tokens) is longer than the model’s context length (8192 tokens).'],
    ['Text Generation Inference', 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096.'],
    ['Moonshot', 'Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)'],
    ['Groq', 'Please reduce the length of the messages or completion.'],
    ['vLLM', 'The decoder prompt (length 21535) is longer than the maximum model length of 16384.'],
    ['vLLM, of what is left', 'max_tokens must be at least 1, got -186.'],
    ['SGLang', 'Input length (5000 tokens) exceeds the maximum allowed length (4096 tokens).'],
    ['Text Embeddings Inference', 'Input validation error: `inputs` must have less than 512 tokens. Given: 534'],
    ['OpenAI, of embeddings', "Invalid 'input[0]': maximum input length is 8192 tokens."],
    ['OpenAI, of many embeddings', 'Requested 300001 tokens, max 300000 tokens per request'],
    ['Ollama Cloud', 'prompt too long; exceeded max context length by 540451 tokens (ref: 00ad71bb)'],
    ['Z.ai', 'Prompt exceeds max length'],
    ['DashScope', '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]'],
    ['Volcano Engine', 'Input length 203743 exceeds the maximum length 202752'],
    ['NVIDIA, of reranking', 'Input length 1024 exceeds maximum allowed token size 512'],
  ])('%s', (_, message) => {
    expect(named(400, { error: { message, type: 'invalid_request_error' } })).toBe('context_window')
  })

  it.each<[string, number, object]>([
    [
      'Voyage',
      400,
      { detail: "Request to model 'voyage-3-large' failed. The max allowed tokens per submitted batch is 120000." },
    ],
    ['Jina', 400, { detail: 'Single text cannot exceed 8194 tokens. 8746 tokens given.' }],
    ['Cerebras', 400, { message: 'Please reduce the length of the messages or completion.', param: 'messages' }],
    ['DeepInfra', 500, { error: { message: 'Requested input length 99009 exceeds maximum input length 8192' } }],
    ['NVIDIA', 500, { error: { message: 'max_tokens must be at least 1, got -512', type: 'InternalServerError' } }],
    [
      'OpenRouter',
      402,
      { error: { code: 402, message: 'Prompt tokens limit exceeded: 64128 > 6964. To increase, …' } },
    ],
  ])('%s, in its own shape', (_, status, body) => {
    expect(named(status, body)).toBe('context_window')
  })

  it('Cloudflare, which are told to the client', () => {
    const message =
      '3010: AiError: The estimated number of input and maximum output tokens (35000) exceeded this model context window limit (24000)'
    const body = { errors: [{ message, code: 3010 }], success: false, result: {}, messages: [] }
    const failure = openaiFailure(413, {}, encoder.encode(JSON.stringify(body)), 0)
    expect([failure.failure, failure.message]).toEqual(['context_window', message])
  })
})

// Its own message says of every refusal that there was one.
describe('what a vendor behind OpenRouter says is', () => {
  const wrapped = (raw: string, code = 400) => ({
    error: { message: 'Provider returned error', code, metadata: { raw, provider_name: 'X' } },
  })
  it.each<[string, string, string]>([
    ['a prompt that is too long', '{"error":{"message":"No.","code":"context_length_exceeded"}}', 'context_window'],
    [
      'a prompt that is too long, in a list',
      '[{"error":{"code":400,"message":"The input token count exceeds the maximum number of tokens allowed (1048576)."}}]',
      'context_window',
    ],
    ['a prompt that is too long, in words', 'prompt is too long: 213462 tokens > 200000 maximum', 'context_window'],
    [
      'a matter of policy',
      '{"error":{"code":"data_inspection_failed","message":"Input data may contain inappropriate content."}}',
      'content_policy',
    ],
    ['a page of its proxy', '<html><h1>400 Bad Request</h1></html>', 'upstream_rejected'],
  ])('%s', (_, raw, expected) => {
    expect(named(400, wrapped(raw))).toBe(expected)
    expect(openaiEmbeddedFailure(wrapped(raw).error).failure).toBe(expected)
  })

  it('told to the client', () => {
    const raw = JSON.stringify({ error: { message: 'At most 1 image.', param: 'messages', code: null } })
    const { message, details } = openaiFailure(400, {}, encoder.encode(JSON.stringify(wrapped(raw))), 0)
    expect([message, details.param]).toEqual(['At most 1 image.', 'messages'])
  })

  it('not told where it blames the deployment', () => {
    const raw = 'z-ai/glm-5.3 is temporarily rate-limited upstream. Add your own key: https://openrouter.ai/settings'
    const failure = openaiFailure(429, {}, encoder.encode(JSON.stringify(wrapped(raw, 429))), 0)
    expect(failure.failure).toBe('upstream_rate_limited')
    expect(failure.message).not.toContain('openrouter')
  })
})

describe('content that is refused, in the words of', () => {
  it.each([
    ['OpenAI', 'Invalid prompt: your prompt was flagged as potentially violating our usage policy.'],
    ['DeepSeek', 'Content Exists Risk'],
    ['DashScope', '<400> InternalError.Algo.DataInspectionFailed: Input text data may contain inappropriate content.'],
    ['Z.ai', 'System detected potentially unsafe or sensitive content in input or generation.'],
    ['xAI, of pictures', 'Generated image rejected by content moderation.'],
  ])('%s', (_, message) => {
    expect(named(400, { error: { message, type: 'invalid_request_error' } })).toBe('content_policy')
  })

  it('Anthropic', () => {
    const error = { type: 'invalid_request_error', message: 'Output blocked by content filtering policy' }
    expect(named(400, { type: 'error', error }, messagesFailure)).toBe('content_policy')
  })
})

// A deployment that is blamed for what one client sent would be cooled for all of them.
describe('content that is refused with the status of a refused key, by', () => {
  const xai = 'Content violates usage guidelines. Team: t-1, API key ID: k-1, Failed check: SAFETY_CHECK_TYPE_BIO'
  const openrouter = 'Your chosen model requires moderation and your input was flagged'
  it.each([
    ['xAI', { code: 'The caller does not have permission to execute the specified operation', error: xai }],
    ['OpenRouter', { error: { code: 403, message: openrouter, metadata: { reasons: ['violence'] } } }],
    ['OpenRouter, of its filters', { error: { code: 'content_policy_violation', message: 'It was declined.' } }],
  ])('%s', (_, body) => {
    expect(named(403, body)).toBe('content_policy')
    const { message } = openaiFailure(403, {}, encoder.encode(JSON.stringify(body)), 0)
    expect(message).toBe('The provider refused the content for reasons of its policy.')
  })

  it('but a refused key stays one', () => {
    const error = { message: 'You do not have access to this model.', type: 'invalid_request_error' }
    expect(named(403, { error })).toBe('upstream_refused')
  })
})

// The same: what a client names in its request, and its provider does not hold, says nothing about the deployment.
describe('a 404 for what the request names is the request’s own', () => {
  const error = (message: string, param: string | null = null) => ({
    error: { message, type: 'invalid_request_error', param, code: null },
  })
  it.each([
    [
      'an item',
      error("Item with id 'rs_68' not found. Items are not persisted when `store` is set to false.", 'input'),
    ],
    ['a conversation', error("Conversation with id 'conv_1' not found.")],
    ['a prompt', error("Prompt with id 'pmpt_1' not found.")],
  ])('%s', (_, body) => {
    const failure = openaiFailure(404, {}, encoder.encode(JSON.stringify(body)), 0)
    expect([failure.failure, failure.status, failure.message]).toEqual(['upstream_rejected', 404, body.error.message])
  })

  it('a file of Anthropic', () => {
    const body = { type: 'error', error: { type: 'not_found_error', message: 'File not found: file_011CNha' } }
    expect(named(404, body, messagesFailure)).toBe('upstream_rejected')
  })

  it.each([
    ['a model', { error: { message: 'The model `x` does not exist', param: null, code: 'model_not_found' } }],
    ['a model, by its field', { error: { message: "Model 'x' not found", param: 'model', code: null } }],
    [
      'a path that llama.cpp does not know',
      { error: { code: 404, message: 'File Not Found', type: 'not_found_error' } },
    ],
    ['a resource of Azure', { error: { code: '404', message: 'Resource not found' } }],
  ])('but not for %s', (_, body) => {
    expect(named(404, body)).toBe('upstream_refused')
  })
})

describe('what one request has brought about blames no deployment, with', () => {
  const tooLarge =
    'Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 50000.'
  const credits =
    'This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 1200.'
  it.each<[string, number, string, string, number]>([
    ['more than a minute takes, of OpenAI', 429, tooLarge, 'context_window', 400],
    ['more than a minute takes, of Groq', 413, tooLarge, 'context_window', 400],
    [
      'a long context that the account has not',
      429,
      'Extra usage is required for long context requests.',
      'context_window',
      400,
    ],
    ['more tokens than are paid for', 402, credits, 'upstream_rejected', 400],
    ['a picture for who sees nothing', 404, 'No endpoints found that support image input', 'upstream_rejected', 404],
    [
      'a choice of providers',
      404,
      'No allowed providers are available for the selected model.',
      'upstream_rejected',
      404,
    ],
    ['a response', 404, 'Response not found', 'upstream_rejected', 404],
    ['a file of OpenAI', 404, 'No such File object: file-1', 'upstream_rejected', 404],
    ['a container', 404, "Container with id 'cntr_1' not found.", 'upstream_rejected', 404],
    ['a skill', 404, 'Skill not found: skill_1', 'upstream_rejected', 404],
    [
      'two requests in one conversation',
      409,
      'Another process is currently operating on this conversation. Please retry in a few seconds.',
      'upstream_rejected',
      409,
    ],
    ['what is not implemented', 501, 'logprobs are not implemented', 'upstream_rejected', 400],
    ['a picture that is none', 500, 'Failed to process inputs: image: unknown format', 'upstream_rejected', 400],
    ['a prompt that is too long, as a 500', 500, 'the input length exceeds the context length', 'context_window', 400],
  ])('%s', (_, status, message, expected, told) => {
    const failure = openaiFailure(status, {}, encoder.encode(JSON.stringify({ error: { message } })), 0)
    expect([failure.failure, failure.status, failure.row.blames]).toEqual([expected, told, undefined])
    expect(failure.message).not.toMatch(/org-1|afford/)
  })

  it.each<[string, number, string, string]>([
    ['a model', 404, 'No endpoints found for vendor/model.', 'upstream_refused'],
    ['a limit of requests', 429, 'Rate limit reached for requests', 'upstream_rate_limited'],
    ['an account without money', 402, 'Insufficient credits. Add more to continue.', 'upstream_refused'],
    ['a path', 405, 'Method Not Allowed', 'upstream_refused'],
    ['a fault', 500, 'The server had an error while processing your request.', 'upstream_failed'],
    ['a method that is unknown', 501, 'Not Implemented', 'upstream_failed'],
    ['a fault that says nothing', 501, '', 'upstream_failed'],
    ['a conflict of its own', 409, 'The operation was aborted.', 'upstream_failed'],
  ])('but %s does', (_, status, message, expected) => {
    expect(named(status, { error: { message } })).toBe(expected)
  })
})

// A client's own words stand in what a provider says of its request.
describe('words of an operator’s trouble that a client wrote change nothing, at', () => {
  it.each<[string, typeof openaiFailure, string, string]>([
    [
      'Google',
      googleFailure,
      'Invalid JSON payload received. Unknown name "billing": Cannot find field.',
      'upstream_rejected',
    ],
    [
      'Google, in a line of its own',
      googleFailure,
      'Unknown name "\nbilling": Cannot find field.',
      'upstream_rejected',
    ],
    ['Google, which means it', googleFailure, 'API key not valid. Please pass a valid API key.', 'upstream_refused'],
    ['Google, of a place', googleFailure, 'User location is not supported for the API use.', 'upstream_refused'],
    [
      'Bedrock',
      bedrockFailure,
      "Value 'operation not allowed' at 'toolConfig' failed to satisfy constraint",
      'upstream_rejected',
    ],
    ['Bedrock, which means it', bedrockFailure, 'The provided model identifier is invalid.', 'upstream_refused'],
    [
      'Bedrock, of a profile',
      bedrockFailure,
      "Invocation of model ID m with on-demand throughput isn't supported. Don't retry.",
      'upstream_refused',
    ],
  ])('%s', (_, read, message, expected) => {
    const body =
      read === googleFailure
        ? { error: { code: 400, message, status: 'INVALID_ARGUMENT' } }
        : { message, __type: 'ValidationException' }
    expect(named(400, body, read)).toBe(expected)
  })

  it.each([
    ['a file', 'You do not have permission to access the File abc or it may not exist.'],
    ['cached content', 'CachedContent not found (or permission denied)'],
  ])('Google blames nobody for %s of the request’s', (_, message) => {
    expect(named(403, { error: { code: 403, message, status: 'PERMISSION_DENIED' } }, googleFailure)).toBe(
      'upstream_rejected',
    )
  })

  it.each([
    [403, 'output_format_not_allowed', "Output format 'pcm_44100' not allowed", 'response_format'],
    [402, 'paid_plan_required', 'Free users cannot use library voices via the API.', 'voice'],
    [404, 'voice_not_found', 'A voice with the id x was not found.', 'voice'],
  ])('ElevenLabs blames nobody for what the request chose: %s %s', (status, code, message, param) => {
    const body = { detail: { code, message } }
    const failure = elevenlabsFailure(status, {}, encoder.encode(JSON.stringify(body)), 0)
    expect([failure.failure, failure.status, failure.details.param]).toEqual(['upstream_rejected', 400, param])
  })
})

// A 400 that is passed on as the client's mistake would reach nobody who can mend it, and no other deployment.
describe('a 400 that is about the operator’s account is a refused access, at', () => {
  it('Anthropic, when nothing is left on it', () => {
    const message = 'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.'
    const body = { type: 'error', error: { type: 'invalid_request_error', message } }
    expect(named(400, body, messagesFailure)).toBe('upstream_refused')
  })

  it.each<[string, object]>([
    ['Cloudflare', { errors: [{ message: 'AiError: No such model @cf/x/y or task', code: 5007 }], success: false }],
    ['Perplexity', { error: { message: "Invalid model 'x'. Permitted models …", type: 'invalid_model', code: 400 } }],
    ['Mistral', { object: 'error', message: 'Invalid model: x', type: 'invalid_model', code: '1500' }],
    ['DeepSeek', { error: { message: 'Model Not Exist', type: 'invalid_request_error', param: null } }],
    ['OpenRouter', { error: { message: 'x/y is not a valid model ID', code: 400 } }],
    [
      'Hugging Face',
      { error: { message: "The requested model 'x' does not exist", param: 'model', code: 'model_not_found' } },
    ],
    ['Voyage', { detail: "Model x is not supported. Supported models are ['voyage-4']." }],
  ])('%s, when it knows no such model', (_, body) => {
    expect(named(400, body)).toBe('upstream_refused')
  })

  it('xAI, when the key is wrong', () => {
    const body = { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: xa***bX.' }
    expect(named(400, body)).toBe('upstream_refused')
    expect(openaiFailure(400, {}, encoder.encode(JSON.stringify(body)), 0).message).not.toContain('xa***')
  })
})

it('a 400 of NVIDIA about a model that has fallen ill is a fault of the provider', () => {
  const detail = "Function id '87ea0ddc-cff1-4bca-bf8b-3bd98a35ddd0': DEGRADED function cannot be invoked"
  expect(named(400, { status: 400, title: 'Bad Request', detail })).toBe('upstream_failed')
})

describe('an error inside an answer of status 200 that says neither a status nor a type is', () => {
  const message = "This model's maximum context length is 8192 tokens."
  it.each<[string, unknown, string]>([
    ['a prompt that is too long, by its code', { code: 'context_length_exceeded', message: 'No.' }, 'context_window'],
    ['a prompt that is too long, by its words', { message }, 'context_window'],
    ['a prompt that is too long, as a text', message, 'context_window'],
    ['a matter of policy', { message: 'Blocked by the content filter.' }, 'content_policy'],
    [
      'the provider’s own, when its words are about a rate',
      { message: 'Too many tokens per minute.' },
      'upstream_failed',
    ],
    ['the provider’s own, when it says so', { type: 'server_error', message }, 'upstream_failed'],
    ['the provider’s own else', { message: 'Something broke.' }, 'upstream_failed'],
  ])('%s', (_, error, failure) => {
    expect(openaiEmbeddedFailure(error).failure).toBe(failure)
  })
})

describe.each([101, 304, 307, 600, 999])('the status %i, with which no API refuses a request,', (status) => {
  it.each([
    ["OpenAI's", openaiFailure],
    ["Anthropic's", messagesFailure],
    ["Google's", googleFailure],
    ["ElevenLabs'", elevenlabsFailure],
    ["AWS's", bedrockFailure],
  ])('is a fault of the provider in %s shape', (_, read) => {
    expect(named(status, {}, read)).toBe('upstream_failed')
  })
})

it.each([
  ['Bedrock', bedrockFailure, 400, "'a", 'upstream_rejected'],
  ['Google', googleFailure, 400, 'violat', 'upstream_rejected'],
  ['who has not implemented it', openaiFailure, 501, 'x not ', 'upstream_failed'],
])('%s may repeat megabytes of what a client sent, which are read at once', (_, read, status, part, expected) => {
  const message = part.repeat(200_000)
  const body =
    read === bedrockFailure ? { message, __type: 'ValidationException' } : { error: { code: status, message } }
  expect(busyMs(() => expect(named(status, body, read)).toBe(expected))).toBeLessThan(500)
})
