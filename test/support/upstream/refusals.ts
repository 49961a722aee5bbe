import { json } from './answer.ts'
import type { Behaviour, Headers } from './behaviour.ts'

interface ErrorFields {
  readonly type?: string | null
  readonly param?: string | null
  readonly code?: string | null
}

/** Any refusal in the vendor's error shape. */
export function refusal(status: number, message: string, fields: ErrorFields = {}, headers: Headers = {}): Behaviour {
  const { type = 'invalid_request_error', param = null, code = null } = fields
  return json(
    status,
    { error: { message, type, param, code } },
    { 'x-request-id': `req_refused_${status}`, ...headers },
  )
}

/** How a 429 tells when to come back. */
export type ComeBack =
  | { readonly seconds: number }
  | { readonly date: Date }
  | { readonly milliseconds: number }
  /** The vendor's own spelling, such as `6m0s` or `20ms`. */
  | { readonly resetRequests: string }
  | { readonly resetTokens: string }

export function rateLimited(comeBack?: ComeBack): Behaviour {
  const message = 'Rate limit reached for requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again later.'
  return refusal(429, message, { type: 'requests', code: 'rate_limit_exceeded' }, comeBackHeaders(comeBack))
}

export const quotaSpent = (): Behaviour =>
  refusal(429, 'You exceeded your current quota, please check your plan and billing details.', {
    type: 'insufficient_quota',
    code: 'insufficient_quota',
  })

export const serverError = (): Behaviour =>
  refusal(500, 'The server had an error while processing your request. Sorry about that!', { type: 'server_error' })

export const overloaded = (comeBack?: ComeBack): Behaviour =>
  refusal(
    503,
    'The engine is currently overloaded, please try again later.',
    { type: 'server_error', code: 'service_unavailable' },
    comeBackHeaders(comeBack),
  )

export const badRequest = (): Behaviour =>
  refusal(400, "Invalid type for 'temperature': expected a decimal, but got a string instead.", {
    param: 'temperature',
    code: 'invalid_type',
  })

/** The message repeats the key, as the vendor's does. */
export const badKey = (shown = 'sk-proj-****1234'): Behaviour =>
  refusal(401, `Incorrect API key provided: ${shown}.`, { code: 'invalid_api_key' })

export const forbidden = (): Behaviour =>
  refusal(403, 'Country, region, or territory not supported', {
    type: 'request_forbidden',
    code: 'unsupported_country_region_territory',
  })

export const modelNotFound = (model = 'gpt-nowhere'): Behaviour =>
  refusal(404, `The model \`${model}\` does not exist or you do not have access to it.`, { code: 'model_not_found' })

export const tooLarge = (): Behaviour => refusal(413, 'Request body is too large.', { code: 'request_too_large' })

export const unprocessable = (): Behaviour => refusal(422, 'The request could not be processed.', { param: 'messages' })

export const contextWindowExceeded = (): Behaviour =>
  refusal(
    400,
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 150012 tokens. Please reduce the length of the messages.",
    { param: 'messages', code: 'context_length_exceeded' },
  )

const filtered = {
  hate: { filtered: false, severity: 'safe' },
  jailbreak: { filtered: true, detected: true },
  violence: { filtered: true, severity: 'medium' },
}

export const contentFiltered = (): Behaviour =>
  json(400, {
    error: {
      message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
      type: null,
      param: 'prompt',
      code: 'content_filter',
      status: 400,
      innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: filtered },
    },
  })

function comeBackHeaders(comeBack: ComeBack | undefined): Headers {
  if (!comeBack) return {}
  if ('seconds' in comeBack) return { 'retry-after': String(comeBack.seconds) }
  if ('date' in comeBack) return { 'retry-after': comeBack.date.toUTCString() }
  if ('milliseconds' in comeBack) return { 'retry-after-ms': String(comeBack.milliseconds) }
  if ('resetRequests' in comeBack) {
    return { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': comeBack.resetRequests }
  }
  return { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': comeBack.resetTokens }
}
