import type { GatewayError } from '../../lib/errors.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import type { Outgoing, Rewrite } from '../provider.ts'

/** What Bedrock says where a model does not stream, or not beside tools: Llama, Mistral and others. */
const UNSTREAMED = /doesn.t support (tool use in )?streaming/i
const BESIDE_TOOLS = /tool use in streaming/i

/** Asks for the whole answer instead of the stream that a model does not have. */
export function wholeInstead({ failure, message }: GatewayError): Rewrite | undefined {
  if (failure !== 'upstream_rejected' || !UNSTREAMED.test(message)) return undefined
  return (request) => ({ ...request, path: request.path.replace(/\/converse-stream$/, '/converse') })
}

/** Names the stream that a model does not have. */
export function unstreamed({ message }: GatewayError, { body, streamed }: Outgoing<ChatRequest>): string | undefined {
  if (!streamed || !UNSTREAMED.test(message)) return undefined
  if (!BESIDE_TOOLS.test(message)) return 'stream'
  return body.tools?.length ? 'stream beside tools' : undefined
}
