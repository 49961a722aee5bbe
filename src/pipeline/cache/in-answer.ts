import { headerSafe } from '../respond/header-safe.ts'
import type { WrittenReply } from '../translate/written-reply.ts'
import type { CallCache } from './cache-use.ts'
import { putTogether } from './embedded-inputs.ts'

/** The bytes of a whole answer for the client, which the cache gets too. Stored answers to some of the inputs are put
 *  in their places. */
export function cachedWhole({ cache }: { readonly cache: CallCache | undefined }, reply: WrittenReply): Uint8Array {
  if (!cache || cache.hit) return reply.bytes
  cache.collected?.whole(reply.bytes, reply.contentType)
  return cache.known.length > 0 ? putTogether(cache.known, reply.bytes) : reply.bytes
}

/** Headers that tell whether the answer came from the cache. */
export function cacheHeaders({ hit, known, servedAt }: CallCache): Record<string, string> {
  if (!hit) return { 'x-gateway-cache': known.length > 0 ? 'partial' : 'miss' }
  const { askedAt, deployment, dropped } = hit
  return {
    'x-gateway-cache': 'hit',
    age: String(Math.max(0, Math.floor((servedAt - askedAt) / 1000))),
    'x-gateway-deployment': headerSafe(deployment),
    ...(dropped === undefined ? {} : { 'x-gateway-dropped': dropped }),
  }
}
