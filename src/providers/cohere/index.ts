import { asList, asText } from '../../lib/json/lenient.ts'
import { adapterFor, type Provider } from '../provider.ts'
import { bearerConnection } from '../wire/connection/bearer-connection.ts'
import { healthRequestAt } from '../wire/connection/health-request.ts'
import { listingAt } from '../wire/connection/model-listing.ts'
import { THINKING } from '../wire/fitting/vendor-words.ts'
import { cohereChat } from './cohere-chat.ts'
import { cohereEmbed } from './cohere-embed.ts'
import { cohereRerank } from './cohere-rerank.ts'
import { nativeCohereChat, nativeCohereEmbed } from './native-cohere.ts'

const API_BASE = 'https://api.cohere.com'

const models = listingAt('/v1/models?page_size=1000', 'models', ({ name, endpoints }) => {
  const serves = asList(endpoints)
  const mode = serves.includes('rerank') ? 'rerank' : serves.includes('embed') ? 'embedding' : 'chat'
  return { id: asText(name), mode: serves.length === 0 ? undefined : mode }
})

/** Cohere's API of version 2. */
export const cohere: Provider = {
  kind: 'cohere',
  profile: { label: 'Cohere', address: API_BASE, credentials: [['api_key']] },
  listings: () => [models],
  connect: (parameters, defaults) => bearerConnection('cohere', API_BASE, parameters, defaults),
  healthRequest: healthRequestAt('/v1/models?page_size=1'),
  words: THINKING,
  adapters: {
    chat: adapterFor(cohereChat),
    cohere_chat: nativeCohereChat,
    embedding: adapterFor(cohereEmbed),
    cohere_embed: nativeCohereEmbed,
    rerank: adapterFor(cohereRerank),
  },
}
