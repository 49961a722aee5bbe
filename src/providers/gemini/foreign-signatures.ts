import type { GatewayError } from '../../lib/errors.ts'
import { wholeBody } from '../../transport/whole-body.ts'
import type { Rewrite } from '../provider.ts'
import { WITHOUT_SIGNATURE } from './thought-signature.ts'

/** What Google says of signatures that it cannot read. Those of the Gemini API and of Vertex are unlike, so that a
 *  conversation which changes between them has some of the other. */
const UNREADABLE = /\b(corrupted|invalid) thought.?signature|thought.?signature is (invalid|not valid)/i
/** Inside a string its quotes would be escaped. */
const SIGNATURE = /"(thoughtSignature|thought_signature)"\s*:\s*"[^"]*"/g

const decoder = new TextDecoder()

/** Leaves the signatures out of a request that was refused because of them. */
export function withoutSignatures({ failure, message }: GatewayError): Rewrite | undefined {
  if (failure !== 'upstream_rejected' || !UNREADABLE.test(message)) return undefined
  return (request) => {
    const body = wholeBody(request.body)
    const text = typeof body === 'string' ? body : decoder.decode(body)
    return { ...request, body: text.replaceAll(SIGNATURE, `"$1":"${WITHOUT_SIGNATURE}"`) }
  }
}
