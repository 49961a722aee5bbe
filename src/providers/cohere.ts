import { bearerConnection } from './bearer-connection.ts'
import { cohereChat } from './cohere/cohere-chat.ts'
import { cohereEmbed } from './cohere/cohere-embed.ts'
import { cohereRerank } from './cohere/cohere-rerank.ts'
import { lookAt } from './look-at.ts'
import { adapterFor, type Provider } from './provider.ts'

/** Cohere's API of version 2. */
export const cohere: Provider = {
  kind: 'cohere',
  connect: (parameters, defaults) => bearerConnection('cohere', 'https://api.cohere.com', parameters, defaults),
  look: lookAt('/v1/models?page_size=1'),
  adapters: { chat: adapterFor(cohereChat), embedding: adapterFor(cohereEmbed), rerank: adapterFor(cohereRerank) },
}
