import { reveal } from '../../lib/secret.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import { type Adapter, adapterFor, type Provider } from '../provider.ts'
import { keyConnection } from '../wire/connection/key-connection.ts'
import { lookAt } from '../wire/connection/look-at.ts'
import { messagesFailure } from './messages-failure.ts'
import { messagesReply } from './messages-reply.ts'
import { DEFAULT_MAX_TOKENS, messagesRequest } from './messages-request.ts'
import { messagesStream } from './messages-stream.ts'
import { nativeCountTokens, nativeMessages } from './native-messages.ts'

const VERSION = '2023-06-01'

const chat: Adapter<ChatRequest> = {
  request({ body }, connection) {
    return {
      method: 'POST',
      origin: connection.origin,
      path: `${connection.basePath}/v1/messages`,
      headers: connection.headers,
      body: JSON.stringify(messagesRequest(body, connection.model)),
    }
  },
  reply: messagesReply,
  setsLimit: DEFAULT_MAX_TOKENS,
  stream: (_call, headers) => messagesStream(headers),
  failure: messagesFailure,
}

/** Claude, at the vendor's own API: chat by translation, messages byte for byte. */
export const anthropic: Provider = {
  kind: 'anthropic',
  connect(parameters, defaults) {
    const connection = keyConnection(
      { apiBase: 'https://api.anthropic.com', header: 'x-api-key' },
      parameters,
      defaults,
    )
    const headers = {
      'content-type': 'application/json',
      'anthropic-version': parameters.api_version ?? VERSION,
      ...connection.headers,
    }
    // Names of betas are no secret, and those that a client asks for are added to them.
    const betas = connection.headers['anthropic-beta']
    if (betas === undefined) return { ...connection, headers }
    return {
      ...connection,
      headers: { ...headers, 'anthropic-beta': typeof betas === 'string' ? betas : reveal(betas) },
    }
  },
  look: lookAt('/v1/models?limit=1'),
  adapters: { chat: adapterFor(chat), messages: nativeMessages, count_tokens: nativeCountTokens },
}
