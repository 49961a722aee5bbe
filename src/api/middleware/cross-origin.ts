import type { MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import { type Env, openExchange } from '../exchange.ts'
import type { ApiServices } from '../scope.ts'
import { report } from './report.ts'

/** The response headers that a page may read. */
const READABLE = [
  'age',
  'mcp-session-id',
  'request-id',
  'retry-after',
  'x-request-id',
  'x-gateway-attempts',
  'x-gateway-cache',
  'x-gateway-deployment',
  'x-gateway-dropped',
  'x-gateway-estimated',
  'x-gateway-explain',
  'x-gateway-model-group',
  'x-gateway-overhead-ms',
  'x-gateway-prompt',
  'x-gateway-ratelimit-scope',
  'x-ratelimit-limit-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-requests',
  'x-ratelimit-reset-tokens',
  'x-ratelimit-warning',
]

/** The paths that pages of configured origins may call. */
export const CROSS_ORIGIN_PATHS = [
  '/v1/*',
  '/v2/*',
  '/v1beta/*',
  '/openai/*',
  '/anthropic/*',
  '/gemini/*',
  '/mcp',
] as const

/** Lets pages of these origins call the API. Keys travel in a header, so that no cookie needs to be allowed. */
export function crossOrigin(services: ApiServices, origins: readonly string[]): MiddlewareHandler<Env> {
  const allow = cors({
    origin: origins.includes('*') ? '*' : [...origins],
    allowMethods: ['GET', 'POST', 'DELETE'],
    exposeHeaders: READABLE,
    maxAge: 600,
  })
  return async (c, next) => {
    const preflight = c.req.method === 'OPTIONS' ? openExchange(c) : undefined
    const answered = await allow(c, next)
    if (preflight && answered) report(services, preflight, answered.status)
    return answered
  }
}
