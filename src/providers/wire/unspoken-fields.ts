import { GatewayError } from '../../lib/errors.ts'
import { entryOf } from '../../lib/json/lenient.ts'

/** Hints to a provider's own bookkeeping: they change nothing in the answer, so a vendor without them loses nothing. */
const HINTS = new Set([
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'metadata',
  'stream_options',
])

/** Values that ask for what happens anyway. */
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

/** Refuses the first field of a request that a vendor's API has no words for: nothing is dropped in silence. */
export function refuseUnspoken(
  body: Readonly<Record<string, unknown>>,
  spoken: ReadonlySet<string>,
  api: string,
): void {
  for (const [field, value] of Object.entries(body)) {
    if (value === undefined || value === null || spoken.has(field) || HINTS.has(field)) continue
    if (entryOf(NEUTRAL, field)?.includes(value) || isEmpty(value) || isTextOnly(field, value)) continue
    throw unspoken(field, api)
  }
}

/** What to answer when a part of a request cannot be said to this vendor. */
export function unspoken(param: string, api: string, instead = 'Leave it out, or choose another model.'): GatewayError {
  return new GatewayError('invalid_request', `'${param}' cannot be expressed in ${api}. ${instead}`, { param })
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function isTextOnly(field: string, value: unknown): boolean {
  return field === 'modalities' && Array.isArray(value) && value.every((one) => one === 'text')
}
