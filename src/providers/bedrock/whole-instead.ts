import type { GatewayError } from '../../lib/errors.ts'
import type { Rewrite } from '../provider.ts'

/** What Bedrock says where a model does not stream, or not beside tools: Llama, Mistral and others. */
const UNSTREAMED = /doesn.t support (tool use in )?streaming/i

/** Asks for the whole answer instead of the stream that a model does not have. */
export function wholeInstead({ failure, message }: GatewayError): Rewrite | undefined {
  if (failure !== 'upstream_rejected' || !UNSTREAMED.test(message)) return undefined
  return (request) => ({ ...request, path: request.path.replace(/\/converse-stream$/, '/converse') })
}
