import { asText } from '../../lib/json/lenient.ts'
import { reveal } from '../../lib/secret.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import { type Adapter, adapterFor, dropper, type Provider } from '../provider.ts'
import { healthRequestAt } from '../wire/connection/health-request.ts'
import { keyConnection } from '../wire/connection/key-connection.ts'
import { listingAt } from '../wire/connection/model-listing.ts'
import { THINKING } from '../wire/fitting/vendor-words.ts'
import { withBetas } from './bound-thoughts.ts'
import { messagesFailure } from './messages-failure.ts'
import { messagesReply } from './messages-reply.ts'
import { limitOf, MESSAGES_TAKE, messagesRequest } from './messages-request.ts'
import { messagesStream } from './messages-stream.ts'
import { MESSAGES_ROUTING, nativeCountTokens, nativeMessages } from './native-messages.ts'
import { withoutThoughts } from './own-turns.ts'

const API_BASE = 'https://api.anthropic.com'
const VERSION = '2023-06-01'

const models = listingAt('/v1/models?limit=1000', 'data', ({ id, display_name }) => ({
  id: asText(id),
  name: asText(display_name) || undefined,
}))

const chat: Adapter<ChatRequest> = {
  request(call, connection) {
    const asked = messagesRequest(call.body, connection.baseModel, dropper(call))
    const message = { ...asked, model: connection.model }
    return {
      method: 'POST',
      origin: connection.origin,
      path: `${connection.basePath}/v1/messages`,
      headers: withBetas(connection, message),
      body: JSON.stringify(message),
    }
  },
  reply: messagesReply,
  takes: MESSAGES_TAKE,
  setsLimit: limitOf,
  stream: (_call, headers) => messagesStream(headers),
  failure: messagesFailure,
  again: withoutThoughts,
}

/** Claude at Anthropic's API: chat is translated, messages are relayed byte for byte. */
export const anthropic: Provider = {
  kind: 'anthropic',
  profile: {
    label: 'Anthropic',
    address: API_BASE,
    credentials: [['api_key']],
    parameters: { api_version: { meaning: 'The version of the API, sent as anthropic-version.', default: VERSION } },
  },
  listings: () => [models],
  routingFields: MESSAGES_ROUTING,
  connect(parameters, defaults) {
    const connection = keyConnection({ apiBase: API_BASE, header: 'x-api-key' }, parameters, defaults)
    const headers = {
      'content-type': 'application/json',
      'anthropic-version': parameters.api_version ?? VERSION,
      ...connection.headers,
    }
    // The names of betas are not secret, and a client's betas are appended to them.
    const betas = connection.headers['anthropic-beta']
    if (betas === undefined) return { ...connection, headers }
    return {
      ...connection,
      headers: { ...headers, 'anthropic-beta': typeof betas === 'string' ? betas : reveal(betas) },
    }
  },
  healthRequest: healthRequestAt('/v1/models?limit=1'),
  words: THINKING,
  adapters: { chat: adapterFor(chat), messages: nativeMessages, count_tokens: nativeCountTokens },
}
