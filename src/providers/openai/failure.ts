import { type FailureDetails, type FailureName, GatewayError } from '../../lib/errors.ts'
import { retryAfterSeconds } from '../../lib/retry-after.ts'
import { clientFault } from '../wire/client-fault.ts'
import type { WireError } from '../wire/wire-error.ts'
import { readError, readErrorBytes } from './read-error.ts'

const CONTEXT_WINDOW = new RegExp(
  [
    'context[_ ](length|window|size|limit)',
    'maximum (prompt|input|model|allowed( input)?) length',
    'maximum allowed token',
    'maximum number of tokens',
    'more than max tokens allowed',
    'max allowed tokens per submitted batch',
    'max \\d+ tokens per request',
    'input length \\d+ exceeds',
    'range of input length',
    'token count (of \\d+ )?exceeds',
    'cannot exceed \\d+ tokens',
    'model token limit',
    'max_new_tokens` must be',
    '`inputs` must have less',
    // What is left for the answer, where the prompt alone is too long.
    'max_tokens must be at least 1, got -',
    '(prompt|input) (is )?too long',
    'input tokens exceed',
    'number of tokens .{0,40}cannot exceed',
    'too many total text bytes',
    'prompt exceeds max(imum)? length',
    'too many tokens',
    'reduce the length of the (messages|prompt)',
  ].join('|'),
  'i',
)

/** Messages of a 400 that is the operator's fault: the key, the account or the name of the model. Any other 400 is the
 *  request's. */
const OPERATORS_OWN = new RegExp(
  [
    '^incorrect api key provided',
    '^your credit balance is too low',
    '^(aierror: |\\d+: )*no such model\\b',
    "^invalid model[:' ]",
    '^model not exist$',
    '^model \\S+ is not supported\\. supported models are',
    '^\\S+ is not a valid model id$',
    '^validation failed: model "[^"]+" is not supported$',
  ].join('|'),
  'i',
)

/** The codes for the same. */
const MODEL_UNKNOWN: ReadonlySet<unknown> = new Set(['model_not_found', 'model_not_supported', 'invalid_model'])

/** Messages of a 400 about a server that is ill. */
const SERVERS_OWN = /^function id '[\w-]+': degraded function/i

/** Messages of a 403 about the content; any other 403 is about the deployment's key. */
const MODERATED = /content_policy|violates usage guidelines|requires moderation|input was flagged/i

const CONTENT_POLICY =
  /content[_ ]?filter|content[_ ]policy|content moderation|content management policy|responsibleai|safety system|flagged as potentially violating|content exists risk|data_?inspection_?failed|inappropriate content|unsafe or sensitive content/i

/** Messages about too many tokens in a period of time, not in one prompt. */
const OF_A_RATE = /rate.?limit|quota|per (minute|hour|day)/i

/** Names what an answer outside 2xx of an OpenAI-shaped API means. */
export function openaiFailure(
  status: number,
  headers: Readonly<Record<string, string>>,
  bytes: Uint8Array,
  now: number,
): GatewayError {
  const error = readErrorBytes(bytes)
  // Some servers have no other status for a prompt that is too long.
  const meant = status === 500 && CONTEXT_WINDOW.test(error.message ?? '') ? 400 : status
  return classifyFailure(meant, error, retryAfterSeconds(headers, now))
}

/** Ends by which a choice reports that the model failed while it answered: of Mistral and OpenRouter, of DeepSeek, of vLLM
 *  and SGLang, whose server was stopped, and of Z.ai. */
const FAILED_ENDS: ReadonlySet<unknown> = new Set(['error', 'insufficient_system_resource', 'abort', 'network_error'])

export const isFailedEnd = (reason: unknown) => FAILED_ENDS.has(reason)

/** Names an error inside an answer of status 200, whole or as an event. */
export function openaiEmbeddedFailure(error: unknown): GatewayError {
  const wire = readError(error)
  const status = Number(wire.code)
  if (status >= 400 && status <= 599) return classifyFailure(status, wire, undefined)
  if (/rate_limit|too_many/.test(`${wire.type} ${wire.code}`)) return classifyFailure(429, wire, undefined)
  if (/invalid_request/.test(`${wire.type}`)) return classifyFailure(400, wire, undefined)
  if (wire.type === undefined && isAboutContent(wire)) return classifyFailure(400, wire, undefined)
  return classifyFailure(502, wire, undefined)
}

/** Whether an error without status and type is about the content, so that another attempt would fail alike. */
function isAboutContent({ code, inner, message }: WireError): boolean {
  const words = `${code} ${inner} ${message}`
  return (CONTEXT_WINDOW.test(words) || CONTENT_POLICY.test(words)) && !OF_A_RATE.test(words)
}

/** Names a failure by its status, and a failure of the request by its message. */
export function classifyFailure(status: number, error: WireError, retryAfter: number | undefined): GatewayError {
  const failure = failureOf(status, error)
  const details: FailureDetails = {
    ...(error.param !== undefined && failure === 'upstream_rejected' ? { param: error.param } : {}),
    ...(error.code !== undefined && failure === 'upstream_rejected' ? { code: error.code } : {}),
    ...(failure === 'upstream_rejected' ? { status: PASSED_ON.has(status) ? status : 400 } : {}),
    ...(error.details !== undefined && OWN_WORDS.has(failure) ? { explanation: error.details } : {}),
    ...(failure === 'upstream_refused' && DOUBTFUL.has(status) ? { blames: 'perhaps' } : {}),
    ...(retryAfter === undefined ? {} : { retryAfterSeconds: retryAfter }),
  }
  return new GatewayError(failure, messageOf(failure, status, error), details)
}

/** The failures whose messages are the provider's own. */
const OWN_WORDS: ReadonlySet<FailureName> = new Set(['upstream_rejected', 'context_window', 'content_policy'])

/** The statuses of a rejection that clients get too; others mean something else in the gateway's answers. */
const PASSED_ON: ReadonlySet<number> = new Set([400, 404, 409, 413, 415, 416, 422, 424])

/** The refusals that may be about the kind of request instead of the deployment. */
const DOUBTFUL: ReadonlySet<number> = new Set([403, 404, 405])

function failureOf(status: number, error: WireError): FailureName {
  if (status < 400) return 'upstream_failed'
  const fault = clientFault(status, error)
  if (fault) return fault
  if (status === 403 && MODERATED.test(`${error.code} ${error.message}`)) return 'content_policy'
  if (status === 400 && isOperatorsOwn(error)) return 'upstream_refused'
  if (status === 400 && SERVERS_OWN.test(error.message ?? '')) return 'upstream_failed'
  if (REFUSALS.has(status)) return 'upstream_refused'
  if (status === 429) return 'upstream_rate_limited'
  if (status === 408) return 'upstream_timeout'
  if (status === 508) return 'loop_detected'
  if (status === 409 || status === 425 || status >= 500) return 'upstream_failed'
  const words = `${error.code} ${error.inner} ${error.type} ${error.message}`
  if (CONTEXT_WINDOW.test(words)) return 'context_window'
  if (CONTENT_POLICY.test(words)) return 'content_policy'
  return 'upstream_rejected'
}

const isOperatorsOwn = ({ code, type, message = '' }: WireError) =>
  MODEL_UNKNOWN.has(code) || MODEL_UNKNOWN.has(type) || OPERATORS_OWN.test(message)

/** Statuses of a wrong credential, model or address: the operator's fault. */
const REFUSALS: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 407, 410])

const OF_AN_ORGANIZATION = /^request too large for\b/i

/** The message for the client: the provider's own for a mistake of the client, else one of the gateway. */
function messageOf(failure: FailureName, status: number, error: WireError): string {
  // The provider's message contains the operator's account.
  if (failure === 'context_window' && (status === 429 || OF_AN_ORGANIZATION.test(error.message ?? '')))
    return 'The request is larger than what the provider accepts from this deployment in a minute.'
  if (failure === 'context_window' && status === 402)
    return "The provider's account cannot pay for a prompt of this length."
  if (failure === 'content_policy' && status === 403)
    return 'The provider refused the content for reasons of its policy.'
  switch (failure) {
    case 'upstream_rejected':
      // The provider's message contains the operator's account.
      if (status === 402) return "The provider's account cannot pay for this many output tokens. Lower max_tokens."
      return error.message ?? `The provider rejected the request with status ${status}.`
    case 'context_window':
    case 'content_policy':
      return error.message ?? `The provider rejected the request with status ${status}.`
    case 'upstream_refused':
      return `The provider refused the gateway's own access with status ${status}. The operator must check the deployment's credentials and model name.`
    case 'loop_detected':
      return "A deployment's api_base leads back to the gateway that asks it. The operator must correct it."
    case 'upstream_rate_limited':
      return 'The provider is rate limiting this deployment. Retry later.'
    default:
      return `The provider failed with status ${status}.`
  }
}
