import { parseRecord } from '../../lib/json/lenient.ts'
import type { EmbeddingRequest } from '../../modes/embedding.ts'
import { openaiEmbeddingsWith, openaiRerank } from '../openai/modes.ts'
import { type Adapter, adapterFor, dropper, type Provider } from '../provider.ts'
import { bearerConnection } from '../wire/connection/bearer-connection.ts'
import { totalTokens } from '../wire/total-tokens.ts'

const API_BASE = 'https://api.jina.ai/v1'

/** OpenAI's embeddings with another name for the encoding, and without the user, since fields that it does not know are
 *  refused; some models report the total of tokens only. Jina's own fields (`task`, `late_chunking`, …) are forwarded. */
const renamed = openaiEmbeddingsWith((call) => {
  const { encoding_format, embedding_type, user } = call.body
  if (user != null) dropper(call)('user')
  return {
    ...(user === undefined ? {} : { user: undefined }),
    ...(encoding_format == null
      ? {}
      : { encoding_format: undefined, embedding_type: embedding_type ?? encoding_format }),
  }
})
const embeddings: Adapter<EmbeddingRequest> = {
  ...renamed,
  reply(bytes, headers, call) {
    const reply = renamed.reply(bytes, headers, call)
    return { ...reply, usage: reply.usage ?? totalTokens(parseRecord(bytes)?.usage) }
  },
}

/** Jina's reranking has the public shape and is billed in tokens. */
const rerank = {
  ...openaiRerank,
  reply(...[bytes, headers, call]: Parameters<typeof openaiRerank.reply>) {
    return { ...openaiRerank.reply(bytes, headers, call), usage: totalTokens(parseRecord(bytes)?.usage) }
  },
}

/** Jina: embeddings and reranking. */
export const jina: Provider = {
  kind: 'jina',
  profile: { label: 'Jina AI', address: API_BASE, credentials: [['api_key']] },
  listings: () => 'Jina has no list of its models to ask for: type the name of one.',
  connect: (parameters, defaults) => bearerConnection('jina', API_BASE, parameters, defaults),
  adapters: { embedding: adapterFor(embeddings), rerank: adapterFor(rerank) },
}
