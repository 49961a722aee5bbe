import { GatewayError } from '../../lib/errors.ts'
import { adapted, applyTable, type Drop, type FieldTable, hint, refused } from '../../modes/field-table.ts'

/** What becomes of the fields of chat at a vendor whose API has no words for them. A field without a rule is refused. */
export const CHAT_FIELDS: FieldTable = {
  metadata: adapted("the gateway's own"),
  stream_options: adapted("the gateway's own"),
  user: hint(),
  safety_identifier: hint(),
  prompt_cache_key: hint(),
  prompt_cache_retention: hint(),
  prompt_cache_options: hint(),
  prediction: hint(),
  verbosity: hint(['medium']),
  store: hint([false]),
  service_tier: hint(['auto', 'default']),
  parallel_tool_calls: hint([true]),
  seed: hint(),
  frequency_penalty: hint([0]),
  presence_penalty: hint([0]),
  n: refused([1]),
  logprobs: refused([false]),
  top_logprobs: refused([0]),
}

/** Applies the rules of chat to the fields that the vendor's API has no words for: names its hints to `drop`, and refuses
 *  what would change the answer. */
export function refuseUnsupportedFields(
  body: Readonly<Record<string, unknown>>,
  supported: ReadonlySet<string>,
  api: string,
  drop: Drop = () => {},
): void {
  applyTable(body, CHAT_FIELDS, {
    drop: (field) => supported.has(field) || drop(field),
    refuse(field) {
      if (!supported.has(field) && !isTextOnly(field, body[field])) throw unsupported(field, api)
    },
  })
}

/** The refusal of a part of a request that the vendor's API cannot express. */
export function unsupported(
  param: string,
  api: string,
  instead = 'Leave it out, or choose another model.',
): GatewayError {
  return new GatewayError('invalid_request', `'${param}' cannot be expressed in ${api}. ${instead}`, { param })
}

function isTextOnly(field: string, value: unknown): boolean {
  return field === 'modalities' && Array.isArray(value) && value.every((one) => one === 'text')
}
