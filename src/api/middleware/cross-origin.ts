import type { MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import type { Answer } from '../../pipeline/answer.ts'
import { type Env, openExchange } from '../exchange.ts'
import type { ApiServices } from '../scope.ts'
import { report } from './report.ts'

/** The response headers that a page may read. */
const READABLE: readonly string[] = [
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
  'x-should-retry',
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
  const isOpen = origins.includes('*')
  const preflight = cors({
    origin: isOpen ? '*' : [...origins],
    allowMethods: ['GET', 'POST', 'DELETE'],
    exposeHeaders: [...READABLE],
    maxAge: 600,
  })
  return async (c, next) => {
    if (c.req.method === 'OPTIONS') {
      const exchange = openExchange(c)
      const answered = await preflight(c, next)
      if (answered) report(services, exchange, answered.status)
      return answered
    }
    await next()
    // Set on the answer that is there: set before, they would make a Response of it, whose length is not known.
    const headers: Answer['headers'] | Headers = c.res.headers
    const origin = c.req.header('origin')
    if (isOpen) setHeader(headers, 'access-control-allow-origin', '*')
    else {
      setHeader(headers, 'vary', 'Origin')
      if (origin !== undefined && origins.includes(origin)) setHeader(headers, 'access-control-allow-origin', origin)
    }
    setHeader(headers, 'access-control-expose-headers', READABLE.join(','))
    return undefined
  }
}

/** Of an answer, or of the Response that it became. */
function setHeader(headers: Answer['headers'] | Headers, name: string, value: string): void {
  if (typeof headers.set === 'function') headers.set(name, value)
  else (headers as Record<string, string>)[name] = value
}
