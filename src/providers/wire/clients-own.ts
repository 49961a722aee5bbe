import type { FailureName } from '../../lib/errors.ts'
import type { WireError } from './wire-error.ts'

/** Of a 404, which is otherwise about our model name or address: `Item with id 'x' not found`, `Container not found`,
 *  `File not found: file_1`, `No such File object: file-1`. */
const NAMED_BY_CLIENT = [
  /^(the )?((specified|requested|previous) )?(item|conversation|prompt|response|thread|file|container|vector store|skill|voice)s? ?(with id |['"`[])/i,
  /^(the )?((specified|requested|previous) )?(conversation|response|thread|container|vector store|skill|voice) (could )?not (be )?found\b/i,
  /^(file|skill|cachedcontent) not found[:.]? (file|skill|cachedcontent)/i,
  /^no such (item|conversation|prompt|response|thread|file object|container|vector store|skill|voice)\b/i,
]
/** Of a 404: a feature, or a choice of providers, that the request asks for and that nobody behind a router has. */
const ROUTED_NOWHERE = /^no (endpoints found (that|matching)|endpoints available matching|allowed providers)\b/i
/** Of a 402: less would have been paid for. */
const LESS_IS_PAID_FOR = /fewer max_tokens/i
/** Of a 409: two requests of a client at once. */
const CLIENTS_CONFLICT = /^conversation_locked$|^another process is currently operating on this conversation/im
/** Of a 429, or a 413: one request that is larger than all that may be said in a minute, or at this account. */
const TOO_LARGE_ALONE = /^request too large for\b|extra usage is required for long context/i
/** Of a 500, as servers answer that do not tell a client's mistakes from their own. */
const SERVERS_MISTAKEN = /failed to process inputs|image: unknown format|illegal base64 data/i

/** What a request has brought about, under a status that otherwise says something about the deployment: whoever is
 *  blamed for it is cooled for everybody, by whoever wants that. */
export function clientsOwn(status: number, error: WireError): FailureName | undefined {
  const { message = '', code } = error
  const rejected =
    (status === 402 && LESS_IS_PAID_FOR.test(message)) ||
    (status === 404 && (isAboutRequest(error) || ROUTED_NOWHERE.test(message))) ||
    (status === 409 && CLIENTS_CONFLICT.test(`${code}\n${message}`)) ||
    (status === 500 && SERVERS_MISTAKEN.test(message)) ||
    status === 501
  if (rejected) return 'upstream_rejected'
  return (status === 429 || status === 413) && TOO_LARGE_ALONE.test(message) ? 'context_window' : undefined
}

/** Whether what is not there is something that the client's own request names. */
function isAboutRequest({ param, message = '' }: WireError): boolean {
  return (param !== undefined && param !== 'model') || NAMED_BY_CLIENT.some((words) => words.test(message))
}
