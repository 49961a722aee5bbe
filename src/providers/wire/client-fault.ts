import type { FailureName } from '../../lib/errors.ts'
import type { WireError } from './wire-error.ts'

/** A 404 about an object that the request names; any other 404 is about the deployment's model name or address. Examples:
 *  `Item with id 'x' not found`, `Container not found`, `File not found: file_1`, `No such File object: file-1`. */
const NAMED_BY_CLIENT = [
  /^(the )?((specified|requested|previous) )?(item|conversation|prompt|response|thread|file|container|vector store|skill|voice)s? ?(with id |['"`[])/i,
  /^(the )?((specified|requested|previous) )?(conversation|response|thread|container|vector store|skill|voice) (could )?not (be )?found\b/i,
  /^(file|skill|cachedcontent) not found[:.]? (file|skill|cachedcontent)/i,
  /^no such (item|conversation|prompt|response|thread|file object|container|vector store|skill|voice)\b/i,
]
/** A 404 of a router: none of its providers has the requested feature, or the request excludes them all. */
const ROUTED_NOWHERE = /^no (endpoints found (that|matching)|endpoints available matching|allowed providers)\b/i
/** A 402 that asks for fewer output tokens. */
const LESS_IS_PAID_FOR = /fewer max_tokens/i
/** A 402 that is about the length of the prompt. */
const SHORTER_IS_PAID_FOR = /^prompt tokens limit exceeded/i
/** A 409 because the client sent two requests at once. */
const CLIENTS_CONFLICT = /^conversation_locked$|^another process is currently operating on this conversation/im
/** A 429 or 413 because a single request exceeds the limit of a minute or of the account. */
const TOO_LARGE_ALONE = /^request too large for\b|extra usage is required for long context/i
/** A 501 that names what the request asks for in vain; any other 501 is a failure of the server, like every 5xx. */
const NAMES_UNIMPLEMENTED = /[a-z`'")] not\b.{0,80}\b(implemented|support)|unsupported/i
/** A 500 of servers that also use it for mistakes of the client. */
const SERVERS_MISTAKEN = /failed to process inputs|image: unknown format|illegal base64 data/i

/** The failure if the request itself caused a status that otherwise blames the deployment. Without this check any client
 *  could cool a deployment for all callers. */
export function clientFault(status: number, error: WireError): FailureName | undefined {
  const { message = '', code } = error
  const rejected =
    (status === 402 && LESS_IS_PAID_FOR.test(message)) ||
    (status === 404 && (isAboutRequest(error) || ROUTED_NOWHERE.test(message))) ||
    (status === 409 && CLIENTS_CONFLICT.test(`${code}\n${message}`)) ||
    (status === 500 && SERVERS_MISTAKEN.test(message)) ||
    (status === 501 && NAMES_UNIMPLEMENTED.test(message))
  if (rejected) return 'upstream_rejected'
  if (status === 402 && SHORTER_IS_PAID_FOR.test(message)) return 'context_window'
  return (status === 429 || status === 413) && TOO_LARGE_ALONE.test(message) ? 'context_window' : undefined
}

/** Whether the missing object is one that the request names. */
function isAboutRequest({ param, message = '' }: WireError): boolean {
  return (param !== undefined && param !== 'model') || NAMED_BY_CLIENT.some((words) => words.test(message))
}
