import { adapterFor, type Provider } from '../provider.ts'
import { bearerConnection } from '../wire/connection/bearer-connection.ts'
import { healthRequestAt } from '../wire/connection/health-request.ts'
import { cohereChat } from './cohere-chat.ts'
import { cohereEmbed } from './cohere-embed.ts'
import { cohereRerank } from './cohere-rerank.ts'

/** Cohere's API of version 2. */
export const cohere: Provider = {
  kind: 'cohere',
  connect: (parameters, defaults) => bearerConnection('cohere', 'https://api.cohere.com', parameters, defaults),
  healthRequest: healthRequestAt('/v1/models?page_size=1'),
  adapters: { chat: adapterFor(cohereChat), embedding: adapterFor(cohereEmbed), rerank: adapterFor(cohereRerank) },
}
