import type { ChatRequest } from '../../modes/chat.ts'
import { type Adapter, dropper } from '../provider.ts'
import { hasCacheMarks } from '../wire/fitting/plain-conversation.ts'
import { cohereFailure } from './cohere-failure.ts'
import { cohereReply } from './cohere-reply.ts'
import { cohereRequest } from './cohere-request.ts'
import { cohereStream } from './cohere-stream.ts'

/** Chat with Cohere. */
export const cohereChat: Adapter<ChatRequest> = {
  request(call, connection) {
    const drop = dropper(call)
    if (call.translated && hasCacheMarks(call.body)) drop('cache_control')
    return {
      method: 'POST',
      origin: connection.origin,
      path: `${connection.basePath}/v2/chat`,
      headers: connection.headers,
      body: JSON.stringify({ ...cohereRequest(call.body, connection.model, drop), stream: call.streamed }),
    }
  },
  reply: (bytes, _headers, { body }) => cohereReply(bytes, body.model),
  stream: ({ body }) => cohereStream(body.model),
  failure: cohereFailure,
}
