import type { MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'

/** What a page may read beside the body. */
const READABLE = [
  'retry-after',
  'x-request-id',
  'x-gateway-attempts',
  'x-gateway-cache',
  'x-gateway-deployment',
  'x-gateway-explain',
  'x-gateway-model-group',
  'x-gateway-overhead-ms',
  'x-gateway-ratelimit-scope',
  'x-ratelimit-limit-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-requests',
  'x-ratelimit-reset-tokens',
  'x-ratelimit-warning',
]

/** Paths that pages of other origins may call, where the operator named their origins. */
export const CROSS_ORIGIN_PATHS = ['/v1/*', '/v2/*', '/rerank'] as const

/** Lets pages of these origins call the API. Keys travel in a header, so no cookie is ever allowed. */
export function crossOrigin(origins: readonly string[]): MiddlewareHandler {
  return cors({
    origin: origins.includes('*') ? '*' : [...origins],
    allowMethods: ['GET', 'POST', 'DELETE'],
    exposeHeaders: READABLE,
    maxAge: 600,
  })
}
