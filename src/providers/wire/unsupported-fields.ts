import { GatewayError } from '../../lib/errors.ts'
import { entryOf } from '../../lib/json/lenient.ts'

/** Hints for a provider's bookkeeping. They do not change the answer, so they are dropped for a vendor without them. */
const HINTS = new Set([
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'metadata',
  'stream_options',
])

/** Values that ask for the default behaviour. */
const NEUTRAL: Readonly<Record<string, readonly unknown[]>> = {
  n: [1],
  store: [false],
  logprobs: [false],
  top_logprobs: [0],
  frequency_penalty: [0],
  presence_penalty: [0],
  parallel_tool_calls: [true],
  service_tier: ['auto', 'default'],
  verbosity: ['medium'],
}

/** Refuses a request with a field that the vendor's API cannot express, instead of dropping the field. */
export function refuseUnsupportedFields(
  body: Readonly<Record<string, unknown>>,
  supported: ReadonlySet<string>,
  api: string,
): void {
  for (const [field, value] of Object.entries(body)) {
    if (value === undefined || value === null || supported.has(field) || HINTS.has(field)) continue
    if (entryOf(NEUTRAL, field)?.includes(value) || isEmpty(value) || isTextOnly(field, value)) continue
    throw unsupported(field, api)
  }
}

/** The refusal of a part of a request that the vendor's API cannot express. */
export function unsupported(
  param: string,
  api: string,
  instead = 'Leave it out, or choose another model.',
): GatewayError {
  return new GatewayError('invalid_request', `'${param}' cannot be expressed in ${api}. ${instead}`, { param })
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function isTextOnly(field: string, value: unknown): boolean {
  return field === 'modalities' && Array.isArray(value) && value.every((one) => one === 'text')
}
