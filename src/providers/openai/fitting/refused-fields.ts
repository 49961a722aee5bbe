import type { GatewayError } from '../../../lib/errors.ts'
import { asText } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import { dropper, type Outgoing, type Rewrite } from '../../provider.ts'
import { editing } from '../../wire/fitting/edited-request.ts'

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

/** Asks with the fields that a model takes, of which its name has told nothing: on Azure, whose operators choose the names,
 *  and behind servers of other names. */
export function withTakenFields(failure: GatewayError, call: Outgoing): Rewrite | undefined {
  if (failure.failure !== 'upstream_rejected') return undefined
  const limit = limitIn(failure)
  if (limit) {
    const [from, to] = limit
    return editing((body) => ({ [from]: undefined, [to]: body[to] ?? body[from] }))
  }
  const param = asText(failure.details.param)
  if (!REFUSED.has(failure.details.code) || !SAMPLING.has(param)) return undefined
  dropper(call)(param)
  return editing(() => ({ [param]: undefined }))
}

/** The refused field of a call: the limit by its name, a setting of sampling by its value and the effort beside it. */
export function refusedField(failure: GatewayError, { body }: Outgoing<ChatRequest>): string | undefined {
  const field = limitIn(failure)?.[0] ?? asText(failure.details.param)
  if (body[field] == null) return undefined
  return SAMPLING.has(field) ? `${field} ${body[field]} ${body.reasoning_effort}` : field
}

const limitIn = ({ message }: GatewayError) => LIMITS.find(([, , said]) => said.test(message))
