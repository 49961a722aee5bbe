import { asList } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import { type Adapter, dropper } from '../provider.ts'
import { refuseCloudObjects } from '../wire/cloud-objects.ts'
import { bedrockFailure } from './bedrock-failure.ts'
import { converseReply } from './converse-reply.ts'
import { CLAUDE, converseRequest } from './converse-request.ts'
import { converseStream } from './converse-stream.ts'
import { unstreamed, wholeInstead } from './whole-instead.ts'
import { withoutThoughts } from './without-thoughts.ts'

const OBJECTS = /^s3:/i

/** Chat with any model of Bedrock. */
export const converse: Adapter<ChatRequest> = {
  request(call, connection) {
    const { streamed, translated } = call
    const body = translated ? withStopSequence(call.body, connection.baseModel) : call.body
    refuseCloudObjects(body.messages, connection, OBJECTS)
    const operation = streamed ? 'converse-stream' : 'converse'
    return {
      method: 'POST',
      origin: connection.origin,
      path: `${connection.basePath}/model/${encodeURIComponent(connection.model)}/${operation}`,
      headers: connection.headers,
      body: JSON.stringify(converseRequest(body, connection.baseModel, dropper(call))),
    }
  },
  takes: { functions: /^[a-zA-Z0-9_-]{1,64}$/, calls: { fits: /^[a-zA-Z0-9_-]{1,64}$/, length: 32 } },
  reply: (bytes, headers, { body }) => converseReply(bytes, headers, body.model),
  stream: ({ body }, headers) => converseStream(headers, body.model),
  streamType: /^application\/vnd\.amazon\.eventstream\b/i,
  failure: bedrockFailure,
  again: (failure) => wholeInstead(failure) ?? withoutThoughts(failure),
  refused: unstreamed,
}

/** Claude tells at which stop sequence it stopped, if it is asked. Clients of chat do not look for it. */
function withStopSequence(body: ChatRequest, model: string): ChatRequest {
  if (!CLAUDE.test(model) || asList(body.stop).length === 0 || body.additionalModelResponseFieldPaths != null)
    return body
  return { ...body, additionalModelResponseFieldPaths: ['/stop_sequence'] }
}
