/** A kind of failure. Status, wire type, retry and fallback chain are columns of one table and decided nowhere else. */
export interface Failure {
  readonly status: number
  readonly type: string
  /** Default of the wire's `code`. */
  readonly code?: string
  /** Another deployment, or the same one later, may succeed. */
  readonly retry?: true
  /** The chain of fallback groups that is tried. */
  readonly chain?: 'fallbacks' | 'context_window_fallbacks' | 'content_policy_fallbacks'
  /** Counts against the deployment. */
  readonly blames?: 'deployment'
  /** Its name in fallback events and metrics. */
  readonly classification?: Classification
  /** The default of the retry-after header. */
  readonly retryAfterSeconds?: number
}

export type Classification =
  | 'rate_limit'
  | 'timeout'
  | 'connection'
  | 'provider_error'
  | 'auth'
  | 'context_window'
  | 'content_policy'
  | 'truncated'

const upstream = { chain: 'fallbacks', blames: 'deployment' } as const

export const FAILURES = {
  // The client's own
  invalid_request: { status: 400, type: 'invalid_request_error' },
  unsupported_media_type: { status: 415, type: 'invalid_request_error', code: 'unsupported_media_type' },
  payload_too_large: { status: 413, type: 'invalid_request_error', code: 'payload_too_large' },
  authentication: { status: 401, type: 'authentication_error' },
  permission: { status: 403, type: 'permission_error' },
  not_found: { status: 404, type: 'not_found_error' },
  model_not_found: { status: 404, type: 'not_found_error', code: 'model_not_found' },
  /** A WebSocket is asked for. Its clients go on over HTTP when they see this status. */
  upgrade_refused: { status: 426, type: 'invalid_request_error', code: 'upgrade_refused' },
  method_not_allowed: { status: 405, type: 'invalid_request_error', code: 'method_not_allowed' },
  not_supported: { status: 404, type: 'not_found_error', code: 'not_supported' },
  conflict: { status: 409, type: 'invalid_request_error', code: 'conflict' },
  client_closed: { status: 499, type: 'api_error', code: 'client_closed' },
  rate_limited: { status: 429, type: 'rate_limit_error' },
  /** The request alone counts more tokens than a limit allows, so that no wait helps. */
  exceeds_limit: { status: 429, type: 'rate_limit_error' },
  budget_exceeded: { status: 429, type: 'budget_exceeded', code: 'budget_exceeded' },
  /** The call alone needs more than a budget has in a whole period, so that no wait helps. */
  exceeds_budget: { status: 429, type: 'budget_exceeded', code: 'budget_exceeded' },
  // The gateway's own
  no_matching_deployment: { status: 503, type: 'api_error', code: 'no_matching_deployment' },
  /** `refuse_unpriced` is on, and the call has no known price. */
  no_priced_deployment: { status: 503, type: 'api_error', code: 'no_priced_deployment' },
  no_healthy_deployment: { status: 503, type: 'api_error', code: 'no_healthy_deployment', chain: 'fallbacks' },
  no_capacity: { status: 503, type: 'api_error', code: 'no_capacity', chain: 'fallbacks' },
  /** `total_timeout` has passed, but no deployment is to blame. */
  call_timeout: { status: 504, type: 'api_error', code: 'call_timeout', classification: 'timeout' },
  store_unavailable: { status: 503, type: 'api_error', code: 'store_unavailable' },
  database_unavailable: { status: 503, type: 'api_error', code: 'database_unavailable' },
  /** The storage of files did not take or give one. */
  blobs_unavailable: { status: 503, type: 'api_error', code: 'blobs_unavailable', retryAfterSeconds: 2 },
  /** What sends e-mail did not take one over. */
  email_failed: { status: 502, type: 'api_error', code: 'email_failed' },
  /** A server of managed tools did not list its tools. */
  tool_server_failed: { status: 502, type: 'api_error', code: 'tool_server_failed' },
  /** A deployment's address leads back to this gateway, directly or through others. Another deployment may succeed. */
  loop_detected: {
    status: 508,
    type: 'api_error',
    code: 'loop_detected',
    ...upstream,
    classification: 'provider_error',
  },
  /** No memory for one more body or answer. */
  overloaded: { status: 503, type: 'api_error', code: 'too_many_bytes_in_flight' },
  shutting_down: { status: 503, type: 'api_error', code: 'shutting_down' },
  console_not_built: { status: 503, type: 'api_error', code: 'console_not_built' },
  internal: { status: 500, type: 'api_error', code: 'internal_error' },
  // The upstream's
  upstream_unreachable: { status: 502, type: 'api_error', ...upstream, retry: true, classification: 'connection' },
  upstream_failed: { status: 502, type: 'api_error', ...upstream, retry: true, classification: 'provider_error' },
  upstream_malformed: { status: 502, type: 'api_error', ...upstream, retry: true, classification: 'provider_error' },
  upstream_truncated: { status: 502, type: 'api_error', ...upstream, retry: true, classification: 'truncated' },
  upstream_timeout: { status: 504, type: 'api_error', ...upstream, retry: true, classification: 'timeout' },
  upstream_rate_limited: {
    status: 429,
    type: 'rate_limit_error',
    ...upstream,
    retry: true,
    classification: 'rate_limit',
    retryAfterSeconds: 1,
  },
  /** The model's answer is unusable; another one may succeed. A prompt can cause this, so it does not count against the
   *  deployment. */
  unusable_answer: {
    status: 502,
    type: 'api_error',
    code: 'unusable_answer',
    retry: true,
    chain: 'fallbacks',
    classification: 'provider_error',
  },
  /** The answer is larger than the gateway can hold: the client has asked for too much. */
  answer_too_large: { status: 400, type: 'invalid_request_error', code: 'answer_too_large' },
  /** 401, 403, 404 of a provider: the deployment's credentials or model name are wrong; another one may succeed. */
  upstream_refused: { status: 502, type: 'api_error', ...upstream, classification: 'auth' },
  /** 400, 413, 422 of a provider: the client's request, answered with the provider's own words. */
  upstream_rejected: { status: 400, type: 'invalid_request_error' },
  context_window: {
    status: 400,
    type: 'invalid_request_error',
    code: 'context_length_exceeded',
    chain: 'context_window_fallbacks',
    classification: 'context_window',
  },
  content_policy: {
    status: 400,
    type: 'invalid_request_error',
    code: 'content_policy_violation',
    chain: 'content_policy_fallbacks',
    classification: 'content_policy',
  },
} as const satisfies Record<string, Failure>

export type FailureName = keyof typeof FAILURES

export interface FailureDetails {
  /** The field or scope that the wire's `param` names. */
  readonly param?: string
  /** Overrides the row's `code`. */
  readonly code?: string
  /** Overrides the row's status, where the upstream's own says more (413, 422). */
  readonly status?: number
  readonly retryAfterSeconds?: number
  /** Overrides `blames` of a row: the request may have caused the failure, or has caused it. */
  readonly blames?: 'perhaps' | 'nobody'
  /** The vendor's own `error.details`, for the clients of its dialect. */
  readonly explanation?: Readonly<Record<string, unknown>>
  /** Further response headers. */
  readonly headers?: Readonly<Record<string, string>>
  /** For the log only. */
  readonly cause?: unknown
}

/** A failure of the gateway. The message is for the client: it says what to do and contains no secret. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  readonly failure: FailureName
  readonly details: FailureDetails

  constructor(failure: FailureName, message: string, details: FailureDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.failure = failure
    this.details = details
  }

  get row(): Failure {
    return FAILURES[this.failure]
  }

  /** Neither a retry nor a fallback would succeed. */
  get isFinal(): boolean {
    return !this.row.retry && !this.row.blames
  }

  get status(): number {
    return this.details.status ?? this.row.status
  }

  get code(): string | null {
    return this.details.code ?? this.row.code ?? (this.row.blames ? this.failure : null)
  }

  /** The limit or budget that refused, such as `team_rpm`; '' if it was none. */
  get scope(): string {
    return OF_SCOPES.has(this.failure) ? (this.details.param ?? '') : ''
  }
}

const OF_SCOPES: ReadonlySet<FailureName> = new Set([
  'rate_limited',
  'exceeds_limit',
  'budget_exceeded',
  'exceeds_budget',
])

/** A thrown value as a GatewayError: an unknown error is `internal` with a fixed text; its cause is only logged. */
export function asGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  return new GatewayError(
    'internal',
    'Something went wrong inside the gateway. Quote the request id when reporting it.',
    {
      cause: thrown,
    },
  )
}

/** The same failure with further response headers. */
export function withHeaders(error: GatewayError, headers: Readonly<Record<string, string>>): GatewayError {
  const details = { ...error.details, headers: { ...error.details.headers, ...headers }, cause: error.cause }
  return new GatewayError(error.failure, error.message, details)
}
