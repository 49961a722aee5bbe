import { editJson } from '../../lib/json/edit-json.ts'
import { parseRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import type { UpstreamRequest } from '../../transport/transport.ts'
import { wholeBody } from '../../transport/whole-body.ts'
import { withBetas } from '../anthropic/bound-thoughts.ts'
import { messagesFailure } from '../anthropic/messages-failure.ts'
import { messagesReply } from '../anthropic/messages-reply.ts'
import { limitOf, MESSAGES_TAKE, messagesRequest } from '../anthropic/messages-request.ts'
import { messagesStream } from '../anthropic/messages-stream.ts'
import { nativeCountTokens, nativeMessages } from '../anthropic/native-messages.ts'
import { withoutThoughts } from '../anthropic/own-turns.ts'
import { googleFailure } from '../gemini/google-failure.ts'
import { type Adapter, type Adapters, adapterFor, type Connection, dropper, type Outgoing } from '../provider.ts'
import { withoutScopes, withTakenBetas } from './claude-betas.ts'

/** The version of the Messages API that Vertex serves. It is sent in the body, and the model in the address. */
const VERSION = 'vertex-2023-10-16'

const encoder = new TextEncoder()

const chat: Adapter<ChatRequest> = {
  request(call, connection) {
    const { body, streamed } = call
    const { model: _, ...message } = messagesRequest(body, connection.model, dropper(call))
    return {
      method: 'POST',
      origin: connection.origin,
      path: predictPath(connection, streamed),
      headers: withBetas(connection, message),
      body: JSON.stringify({ anthropic_version: VERSION, ...message }),
    }
  },
  reply: messagesReply,
  takes: MESSAGES_TAKE,
  setsLimit: limitOf,
  stream: (_call, headers) => messagesStream(headers),
  failure: claudeFailure,
  again: withoutThoughts,
}

const messages: Adapter = {
  ...nativeMessages,
  async request(call, connection) {
    const asked = await nativeMessages.request(withTakenBetas(call), connection)
    const changes = { model: undefined, ...withoutScopes(call) }
    return vertexRequest(asked, call, predictPath(connection, call.streamed), changes)
  },
  failure: claudeFailure,
}

const countTokens: Adapter = {
  ...nativeCountTokens,
  async request(call, connection) {
    const asked = await nativeCountTokens.request(withTakenBetas(call), connection)
    // The body of this method contains the model.
    return vertexRequest(asked, call, `${connection.basePath}/models/count-tokens:rawPredict`, withoutScopes(call))
  },
  failure: claudeFailure,
}

/** Claude on Vertex: the Messages API at other addresses. */
export const claudeAdapters: Adapters = { chat: adapterFor(chat), messages, count_tokens: countTokens }

function predictPath({ basePath, model }: Connection, streamed: boolean): string {
  return `${basePath}/models/${model}:${streamed ? 'streamRawPredict' : 'rawPredict'}`
}

/** A request of the Messages API with the changes for Vertex. */
function vertexRequest(
  asked: UpstreamRequest,
  { body }: Outgoing,
  path: string,
  changes: Readonly<Record<string, unknown>>,
): UpstreamRequest {
  const { 'anthropic-version': _, ...headers } = asked.headers
  const { metadata: _own, ...parsed } = body
  const whole = wholeBody(asked.body)
  const bytes = typeof whole === 'string' ? encoder.encode(whole) : whole
  return { ...asked, path, headers, body: editJson(bytes, parsed, { anthropic_version: VERSION, ...changes }) }
}

/** Errors have either Claude's shape or that of the platform in front of it. */
function claudeFailure(status: number, headers: Readonly<Record<string, string>>, bytes: Uint8Array, now: number) {
  const read = parseRecord(bytes)?.type === 'error' ? messagesFailure : googleFailure
  return read(status, headers, bytes, now)
}
