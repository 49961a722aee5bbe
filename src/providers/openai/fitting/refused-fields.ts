import type { GatewayError } from '../../../lib/errors.ts'
import { editJson } from '../../../lib/json/edit-json.ts'
import { asText, type JsonRecord, parseRecord } from '../../../lib/json/lenient.ts'
import { wholeBody } from '../../../transport/whole-body.ts'
import { dropper, type Otherwise, type Outgoing } from '../../provider.ts'

/** The codes for a field that a model does not take, and for its value. */
const REFUSED: ReadonlySet<unknown> = new Set(['unsupported_parameter', 'unsupported_value'])
const SAMPLING: ReadonlySet<string> = new Set(['temperature', 'top_p', 'presence_penalty', 'frequency_penalty'])
/** The two names of the limit, each with what is said where a model knows the other one alone. */
const LIMITS = [
  ['max_tokens', 'max_completion_tokens', /'max_tokens' is not supported .*'max_completion_tokens'/],
  [
    'max_completion_tokens',
    'max_tokens',
    /(unrecognized request argument.*|unsupported parameter.*)max_completion_tokens/i,
  ],
] as const

const encoder = new TextEncoder()

/** Asks with the fields that a model takes, of which its name has told nothing: on Azure, whose operators choose the names,
 *  and behind servers of other names. */
export function withTakenFields(failure: GatewayError, call: Outgoing): Otherwise | undefined {
  if (failure.failure !== 'upstream_rejected') return undefined
  const { message, details } = failure
  const limit = LIMITS.find(([, , said]) => said.test(message))
  if (limit) {
    const [from, to] = limit
    return edited((body) => ({ [from]: undefined, [to]: body[to] ?? body[from] }))
  }
  const param = asText(details.param)
  if (!REFUSED.has(details.code) || !SAMPLING.has(param)) return undefined
  dropper(call)(param)
  return edited(() => ({ [param]: undefined }))
}

function edited(changes: (body: JsonRecord) => JsonRecord): Otherwise {
  return (request) => {
    const whole = wholeBody(request.body)
    const bytes = typeof whole === 'string' ? encoder.encode(whole) : whole
    const body = parseRecord(bytes)
    return body ? { ...request, body: editJson(bytes, body, changes(body)) } : request
  }
}
